/// A `Range` header with a single range of bytes (RFC 9110 §14.1.2).
enum ByteRange: Equatable {
    case from(Int, to: Int?)
    case last(Int)

    /// Parses the field; `nil` for values that a server may ignore: other units, several ranges, malformed values.
    init?(_ header: String) {
        guard header.lowercased().hasPrefix("bytes=") else { return nil }
        let ends = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, !header.contains(",") else { return nil }
        let numbers = ends.map { text in
            !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) ?? Int.max : nil
        }
        switch (numbers[0], numbers[1]) {
        case (nil, let count?) where ends[0].isEmpty: self = .last(count)
        case (let first?, nil) where ends[1].isEmpty: self = .from(first, to: nil)
        case (let first?, let last?) where first <= last: self = .from(first, to: last)
        default: return nil
        }
    }

    /// The range within a content of `total` bytes; `nil` if it is empty (416).
    func resolved(in total: Int) -> Range<Int>? {
        switch self {
        case .from(let first, let last):
            guard first < total else { return nil }
            return first..<(min(last ?? total - 1, total - 1) + 1)
        case .last(let count):
            guard count > 0, total > 0 else { return nil }
            return (total - min(count, total))..<total
        }
    }
}
