/// Splits bytes into lines as they arrive: a value without a source, which holds only the line that is incomplete.
struct LineSplitter {
    /// The characters that end a line.
    enum Terminator {
        /// LF, and the CR before it is dropped: text files and JSON Lines.
        case lineFeed
        /// LF, CR LF or CR: an event stream (HTML Standard §9.2.5).
        case lineFeedOrCarriageReturn
    }

    private let terminator: Terminator
    private let limit: Int
    private var incomplete: [UInt8] = []
    private var followsCarriageReturn = false
    /// The number of lines that were returned.
    private(set) var count = 0

    init(_ terminator: Terminator, limit: Int) {
        self.terminator = terminator
        self.limit = limit
    }

    /// Takes the bytes of one line from the front of a chunk; returns nil where the chunk ends before the line.
    mutating func next(in chunk: inout ArraySlice<UInt8>) throws(HTTPBody.LineTooLong) -> [UInt8]? {
        if followsCarriageReturn, let first = chunk.first {
            followsCarriageReturn = false
            if first == .lineFeed { chunk = chunk.dropFirst() }
        }
        guard let end = chunk.firstIndex(where: ends) else {
            try append(chunk)
            chunk = []
            return nil
        }
        try append(chunk[..<end])
        followsCarriageReturn = chunk[end] == .carriageReturn
        chunk = chunk[(end + 1)...]
        return take()
    }

    /// Returns the last line where no terminator followed it, or nil where it is empty.
    mutating func finish() -> [UInt8]? { incomplete.isEmpty ? nil : take() }

    private func ends(_ byte: UInt8) -> Bool {
        byte == .lineFeed || (byte == .carriageReturn && terminator == .lineFeedOrCarriageReturn)
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) throws(HTTPBody.LineTooLong) {
        guard bytes.count <= limit, incomplete.count <= limit - bytes.count else {
            throw HTTPBody.LineTooLong(limit: limit, line: count + 1)
        }
        incomplete += bytes
    }

    private mutating func take() -> [UInt8] {
        var line: [UInt8] = []
        swap(&line, &incomplete)
        if terminator == .lineFeed, line.last == .carriageReturn { line.removeLast() }
        count += 1
        return line
    }
}

extension UInt8 {
    fileprivate static var lineFeed: UInt8 { 10 }
    fileprivate static var carriageReturn: UInt8 { 13 }
}
