internal import RefrainHTTP

/// Reads the head of a response line by line, as libcurl delivers it.
///
/// Heads of 1xx responses are read and forgotten. Lines after the end of the final head are trailers, and left out.
struct HeadReader {
    enum Version { case http1, http2, http3, http10 }

    /// A head is refused beyond this many bytes, those of 1xx responses and trailers included.
    static let maximumSize = 256 << 10
    /// A head is refused beyond this many lines, those of 1xx responses and trailers included.
    static let maximumLines = 1000

    private(set) var status = 0
    private(set) var version = Version.http1
    private(set) var headers = HTTPHeaders()
    /// Whether any line has arrived.
    private(set) var hasBegun = false
    /// Whether the blank line that ends the final head was seen (guard 1).
    private(set) var isComplete = false
    /// The value of `Content-Length`, where it says how long the body is.
    private(set) var contentLength: Int64?
    private(set) var isChunked = false
    private(set) var coding = ContentCoding.none

    private var size = 0
    private var lines = 0
    private var memory: HeadMemory

    /// Begins to read a head, with what is remembered of the one before.
    init(_ memory: consuming HeadMemory = HeadMemory()) {
        self.memory = memory
        self.memory.begin()
    }

    /// What is to be remembered for the next head; to be taken once.
    mutating func takeMemory() -> HeadMemory { memory.take() }

    enum Outcome {
        case goOn
        /// The final head is complete.
        case complete
        /// This is not a head, for the reason given.
        case refuse(String)
    }

    /// Takes a line, with its end.
    mutating func read(_ raw: UnsafeBufferPointer<UInt8>) -> Outcome {
        hasBegun = true
        size += raw.count
        lines += 1
        guard size <= Self.maximumSize, lines <= Self.maximumLines else {
            return .refuse("the head of the response is larger than 256 KB or 1,000 lines")
        }
        // Trailers may hold nothing that the head did not announce; they are left out.
        guard !isComplete else { return .goOn }
        switch memory.compare(raw) {
        case .same:
            // The fields are left to the end; they may all be the same. What the first line says is of use before.
            return Self.isStatusLine(raw) ? parse(raw) : .goOn
        case .whole:
            guard let meaning = memory.meaning else { return .refuse("the head was forgotten") }
            headers = meaning.headers
            contentLength = meaning.contentLength
            isChunked = meaning.isChunked
            coding = meaning.coding
            return endOfHead()
        case .different(let skipped):
            let memory = memory
            // Back to the beginning, but for the counts.
            (status, version, headers, contentLength, isChunked, coding) = (0, .http1, [:], nil, false, .none)
            for line in 0..<skipped {
                let outcome = memory.withLine(line) { parse($0) }
                guard case .goOn = outcome else { return outcome }
            }
            return note(parse(raw))
        case .new:
            return note(parse(raw))
        }
    }

    private mutating func note(_ outcome: Outcome) -> Outcome {
        switch outcome {
        case .goOn: break
        case .refuse: memory.forget()
        case .complete:
            memory.keep(
                HeadMemory.Meaning(
                    headers: headers,
                    contentLength: contentLength,
                    isChunked: isChunked,
                    coding: coding
                )
            )
        }
        return outcome
    }

    private mutating func parse(_ raw: UnsafeBufferPointer<UInt8>) -> Outcome {
        var end = raw.count
        while end > 0, raw[end - 1] == 0x0A || raw[end - 1] == 0x0D { end -= 1 }
        let line = UnsafeBufferPointer(rebasing: raw[..<end])
        if line.isEmpty { return endOfHead() }
        if Self.isStatusLine(line) { return readStatusLine(line) }
        return readField(line)
    }

    private static func isStatusLine(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        line.count >= 5 && line[0] == UInt8(ascii: "H") && line[1] == UInt8(ascii: "T") && line[2] == UInt8(ascii: "T")
            && line[3] == UInt8(ascii: "P") && line[4] == UInt8(ascii: "/")
    }

    private mutating func endOfHead() -> Outcome {
        guard status >= 200 else {
            return status == 101 ? .refuse("the server changed the protocol unasked") : .goOn
        }
        if isChunked { contentLength = nil }
        isComplete = true
        return .complete
    }

    private mutating func readStatusLine(_ line: UnsafeBufferPointer<UInt8>) -> Outcome {
        guard line.count >= 10, let space = line.firstIndex(of: 0x20), space + 3 < line.count else {
            return .refuse("the status line is malformed")
        }
        var code = 0
        for byte in line[(space + 1)...(space + 3)] {
            guard (0x30...0x39).contains(byte) else { return .refuse("the status is not a number of three digits") }
            code = code * 10 + Int(byte - 0x30)
        }
        let isThreeDigits = space + 4 == line.count || line[space + 4] == 0x20
        guard code >= 100, isThreeDigits else {
            return .refuse("the status is not a number of three digits")
        }
        status = code
        switch (line[5], space == 8 ? line[7] : 0) {
        case (0x32, _): version = .http2
        case (0x33, _): version = .http3
        case (0x31, 0x30): version = .http10
        default: version = .http1
        }
        headers = HTTPHeaders()
        contentLength = nil
        isChunked = false
        coding = .none
        return .goOn
    }

    private mutating func readField(_ line: UnsafeBufferPointer<UInt8>) -> Outcome {
        guard line[0] != 0x20, line[0] != 0x09 else { return readContinuation(line) }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else {
            return .refuse("a line of the head has no name and colon")
        }
        let value = Self.trimmed(line, from: colon + 1)
        let name = String(decoding: line[..<colon], as: UTF8.self)
        switch colon {
        case 14 where HTTPHeaders.isSame(name, "Content-Length"):
            guard noteLength(value) else { return .refuse("Content-Length is malformed, or contradicts itself") }
        case 17 where HTTPHeaders.isSame(name, "Transfer-Encoding"):
            isChunked = true
        case 16 where HTTPHeaders.isSame(name, "Content-Encoding"):
            coding.add(String(decoding: value, as: UTF8.self))
        default: break
        }
        if headers.isEmpty { headers.reserveCapacity(8) }
        headers.add(name, String(decoding: value, as: UTF8.self))
        return .goOn
    }

    /// A folded line goes on with the value of the line before it (RFC 9112 §5.2).
    private mutating func readContinuation(_ line: UnsafeBufferPointer<UInt8>) -> Outcome {
        guard let last = headers.last else { return .refuse("the head begins with a folded line") }
        let more = String(decoding: Self.trimmed(line, from: 0), as: UTF8.self)
        let value = last.value.isEmpty ? more : last.value + " " + more
        headers = HTTPHeaders(headers.dropLast().map { ($0.name, $0.value) } + [(last.name, value)])
        return .goOn
    }

    /// Takes a length, which may be repeated but not changed (RFC 9112 §6.3).
    private mutating func noteLength(_ value: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var length: Int64 = 0
        var digits = 0
        for byte in value {
            switch byte {
            case 0x30...0x39:
                guard digits < 18 else { return false }
                digits += 1
                length = length * 10 + Int64(byte - 0x30)
            case UInt8(ascii: ","):
                guard digits > 0, contentLength == nil || contentLength == length else { return false }
                contentLength = length
                (length, digits) = (0, 0)
            case 0x20, 0x09: break
            default: return false
            }
        }
        guard digits > 0, contentLength == nil || contentLength == length else { return false }
        contentLength = length
        return true
    }

    private static func trimmed(
        _ line: UnsafeBufferPointer<UInt8>,
        from start: Int
    ) -> Slice<UnsafeBufferPointer<UInt8>> {
        var (start, end) = (start, line.count)
        while start < end, line[start] == 0x20 || line[start] == 0x09 { start += 1 }
        while end > start, line[end - 1] == 0x20 || line[end - 1] == 0x09 { end -= 1 }
        return line[start..<end]
    }

    /// The version of HTTP as text.
    var versionText: String {
        switch version {
        case .http10: "1.0"
        case .http1: "1.1"
        case .http2: "2"
        case .http3: "3"
        }
    }
}
