/// Ten amounts, in place: a budget in each of a million simulated processes has no room for an array.
struct Slices {
    static let count = 10

    private typealias Storage = (Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64)

    private var storage: Storage = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

    /// The amount at an index, which is taken modulo ``count``.
    subscript(index: Int) -> Int64 {
        get {
            withUnsafeBytes(of: storage) { $0.load(fromByteOffset: Self.offset(of: index), as: Int64.self) }
        }
        set {
            withUnsafeMutableBytes(of: &storage) {
                $0.storeBytes(of: newValue, toByteOffset: Self.offset(of: index), as: Int64.self)
            }
        }
    }

    private static func offset(of index: Int) -> Int { (index % count + count) % count * MemoryLayout<Int64>.stride }
}
