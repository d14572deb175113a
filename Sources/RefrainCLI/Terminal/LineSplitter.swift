/// Cuts a stream of bytes into lines, in time that is linear also where a line is very long.
struct LineSplitter {
    private var pending: [UInt8] = []

    /// Takes a piece, and hands over each line that it completes, without the line feed.
    mutating func take(_ chunk: [UInt8], _ body: ([UInt8]) -> Void) {
        var rest = chunk[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            pending += rest[..<end]
            body(pending)
            pending.removeAll(keepingCapacity: pending.capacity <= 1 << 20)
            rest = rest[(end + 1)...]
        }
        pending += rest
    }

    /// Hands over the last line, where it has no line feed.
    mutating func finish(_ body: ([UInt8]) -> Void) {
        guard !pending.isEmpty else { return }
        body(pending)
        pending = []
    }
}
