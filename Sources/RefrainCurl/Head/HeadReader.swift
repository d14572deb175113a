// SPDX-License-Identifier: Apache-2.0
internal import RefrainHTTP

/// Reads the head of a response line by line, as libcurl delivers it.
///
/// Heads of 1xx responses are read and discarded. Lines after the end of the final head are trailers, and ignored.
/// Each handle has one reader, which reads one head after the other.
struct HeadReader {
    /// The maximum size of a head in bytes, including 1xx responses and trailers.
    static let maximumSize = 256 << 10
    /// The maximum number of lines of a head, including 1xx responses and trailers.
    static let maximumLines = 1000

    private(set) var head = ReceivedHead()

    /// The number of bytes received, including 1xx responses.
    private(set) var size = 0
    private var lines = 0
    private var timesChunked = 0
    private var memory = HeaderCache()
    /// Whether the next line begins a head, and must be a status line.
    private var isAtStart = true

    /// Begins the head of another response.
    mutating func begin() {
        head = ReceivedHead()
        size = 0
        lines = 0
        isAtStart = true
        memory.begin()
    }

    enum Outcome {
        case goOn
        /// The final head is complete.
        case complete
        /// The head is malformed, for this reason.
        case refuse(String)
    }

    /// Accepts a line that equals that of the last head, and is not needed before the end of the head.
    ///
    /// Returns false if the line must be read with ``read(_:)``.
    mutating func skip(_ raw: UnsafeBufferPointer<UInt8>) -> Bool {
        let newSize = size &+ raw.count
        guard newSize <= Self.maximumSize, lines < Self.maximumLines, !head.isComplete, !Self.isStatusLine(raw),
            memory.skip(raw)
        else { return false }
        size = newSize
        lines &+= 1
        return true
    }

    /// Reads a line, including its end.
    mutating func read(_ raw: UnsafeBufferPointer<UInt8>) -> Outcome {
        head.hasBegun = true
        size += raw.count
        lines += 1
        guard size <= Self.maximumSize, lines <= Self.maximumLines else {
            return .refuse("the head of the response is larger than 256 KB or 1,000 lines")
        }
        guard !head.isComplete else { return readTrailer(raw) }
        switch memory.compare(raw) {
        case .same:
            // Fields are read at the end of the head, if one differs. The status line is needed earlier.
            guard Self.isStatusLine(raw) else { return .goOn }
            isAtStart = true
            return parse(raw)
        case .whole:
            guard let meaning = memory.meaning else { return .refuse("the head was forgotten") }
            head.headers = meaning.headers
            head.contentLength = meaning.contentLength
            head.isChunked = meaning.isChunked
            head.hasTransferCoding = meaning.hasTransferCoding
            head.coding = meaning.coding
            head.keepAlive = meaning.keepAlive
            return endOfHead()
        case .different(let skipped):
            let memory = memory
            // Begins again; the counts stay.
            head.startOver()
            isAtStart = true
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
                HeaderCache.Meaning(
                    headers: head.headers,
                    contentLength: head.contentLength,
                    isChunked: head.isChunked,
                    hasTransferCoding: head.hasTransferCoding,
                    coding: head.coding,
                    keepAlive: head.keepAlive
                )
            )
        }
        return outcome
    }

    private mutating func parse(_ raw: UnsafeBufferPointer<UInt8>) -> Outcome {
        let line = Self.withoutEnd(raw)
        if line.isEmpty { return endOfHead() }
        // libcurl reads the status only from the first line.
        guard Self.isStatusLine(line) == isAtStart else {
            return .refuse(
                isAtStart ? "the head does not begin with a status line" : "the head has more than one status line"
            )
        }
        guard isAtStart else { return readField(line) }
        isAtStart = false
        return readStatusLine(line)
    }

    /// Checks a trailer, and ignores it.
    ///
    /// libcurl checks trailers only from 7.83 on. The line after the last one is empty.
    private func readTrailer(_ raw: UnsafeBufferPointer<UInt8>) -> Outcome {
        let line = Self.withoutEnd(raw)
        guard let first = line.first, first != 0x20, first != 0x09 else { return .goOn }
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        guard name.count < line.count, HTTPToken.isValid(String(decoding: name, as: UTF8.self)) else {
            return .refuse("a trailer is not a field")
        }
        return .goOn
    }

    static func withoutEnd(_ line: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        var end = line.count
        while end > 0, line[end - 1] == 0x0A || line[end - 1] == 0x0D { end -= 1 }
        return UnsafeBufferPointer(rebasing: line[..<end])
    }

    static func isStatusLine(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        line.count >= 5 && line[0] == UInt8(ascii: "H") && line[1] == UInt8(ascii: "T") && line[2] == UInt8(ascii: "T")
            && line[3] == UInt8(ascii: "P") && line[4] == UInt8(ascii: "/")
    }

    private mutating func endOfHead() -> Outcome {
        guard head.status >= 200 else {
            isAtStart = true
            return head.status == 101 ? .refuse("the server changed the protocol unasked") : .goOn
        }
        if head.hasTransferCoding { head.contentLength = nil }
        head.isComplete = true
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
        head.status = code
        switch (line[5], space == 8 ? line[7] : 0) {
        case (0x32, _): head.version = .http2
        case (0x33, _): head.version = .http3
        case (0x31, 0x30): head.version = .http10
        default: head.version = .http1
        }
        head.forgetFields()
        timesChunked = 0
        return .goOn
    }

    private mutating func readField(_ line: UnsafeBufferPointer<UInt8>) -> Outcome {
        guard line[0] != 0x20, line[0] != 0x09 else { return readContinuation(line) }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else {
            return .refuse("a line of the head has no name and colon")
        }
        let value = Self.trimmed(line, from: colon + 1)
        let name = String(decoding: line[..<colon], as: UTF8.self)
        // White space before the colon, in particular, would hide a field from libcurl but not from other recipients
        // (RFC 9112 §5.1).
        guard HTTPToken.isValid(name) else { return .refuse("the name of a field is not a token") }
        switch colon {
        case 14 where HTTPHeaders.isSame(name, "Content-Length"):
            guard noteLength(value) else { return .refuse("Content-Length is malformed, or contradicts itself") }
        case 10 where HTTPHeaders.isSame(name, "Keep-Alive"):
            head.keepAlive = Self.keepAlive(String(decoding: value, as: UTF8.self)) ?? head.keepAlive
        case 17 where HTTPHeaders.isSame(name, "Transfer-Encoding"):
            guard noteTransferCoding(value) else { return .refuse("the transfer coding is not chunked") }
            guard timesChunked < 2 || !CurlVersion.undoesRepeatedChunks else {
                return .refuse("the transfer coding is chunked, and so again, and libcurl would undo both")
            }
        case 16 where HTTPHeaders.isSame(name, "Content-Encoding"):
            head.coding.add(String(decoding: value, as: UTF8.self))
        default: break
        }
        if head.headers.isEmpty { head.headers.reserveCapacity(8) }
        let isReference = colon == 8 && HTTPHeaders.isSame(name, "Location")
        if value.contains(Self.carriageReturn) {
            keep(name, Self.withoutReturns(value), isReference)
        } else {
            keep(name, value, isReference)
        }
        return .goOn
    }

    private mutating func keep(_ name: String, _ value: some Collection<UInt8>, _ isReference: Bool) {
        if isReference {
            head.headers.add(name, Self.reference(value))
        } else {
            head.headers.add(name, bytes: value)
        }
    }

    private static let carriageReturn: UInt8 = 0x0D

    /// Replaces each bare CR, which other recipients may interpret as the end of the line (RFC 9110 §5.5).
    private static func withoutReturns(_ value: some Collection<UInt8>) -> [UInt8] {
        value.map { $0 == carriageReturn ? 0x20 : $0 }
    }

    /// Returns the text of a URL reference.
    ///
    /// If it is not UTF-8, its bytes are percent-encoded, because a replacement character would name another resource.
    private static func reference(_ value: some Collection<UInt8>) -> String {
        if let text = String(validating: value, as: UTF8.self) { return text }
        return value.reduce(into: "") { text, byte in
            if byte < 0x80 {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    /// Appends a folded line to the value of the previous one (RFC 9112 §5.2).
    private mutating func readContinuation(_ line: UnsafeBufferPointer<UInt8>) -> Outcome {
        guard let last = head.headers.last else { return .refuse("the head begins with a folded line") }
        // libcurl would ignore the second line of such a field, and read another length.
        guard !Self.isFraming(last.name) else {
            return .refuse("a field that says how long the body is goes over two lines")
        }
        head.headers.continueLast(Self.withoutReturns(Self.trimmed(line, from: 0)))
        if HTTPHeaders.isSame(last.name, "Content-Encoding") {
            head.coding = head.headers[values: "Content-Encoding"].reduce(into: .none) { $0.add($1) }
        }
        return .goOn
    }

    private static func isFraming(_ name: String) -> Bool {
        ["Content-Length", "Transfer-Encoding"].contains { HTTPHeaders.isSame(name, $0) }
    }

    /// Reads a transfer coding; returns false for any except chunked, because none was requested (RFC 9112 §6.1, §7.4).
    ///
    /// `identity` means no coding, a remnant of RFC 2616. With it, too, `Content-Length` is ignored (§6.3).
    private mutating func noteTransferCoding(_ value: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        head.hasTransferCoding = true
        return value.split(separator: UInt8(ascii: ","))
            .allSatisfy { coding in
                let coding = String(decoding: Self.trimmed(coding.base, coding.indices), as: UTF8.self)
                if HTTPHeaders.isSame(coding, "chunked") {
                    head.isChunked = true
                    timesChunked += 1
                    return true
                }
                return coding.isEmpty || HTTPHeaders.isSame(coding, "identity")
            }
    }

    /// Reads `Keep-Alive` (RFC 2068 §19.7.1.1): the time until the server closes the connection, in nanoseconds.
    ///
    /// Returns nil if the field has no time. A connection for no further request (`max=0`) is closed immediately.
    static func keepAlive(_ value: String) -> Int64? {
        var time: Int64?
        for parameter in value.split(whereSeparator: { $0 == "," || $0 == ";" }) {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let name = parts[0].trimmed.lowercased()
            let digits = parts[1].trimmed.drop { $0 == "\"" }.prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty else { continue }
            // More digits than a number can have are an eternity.
            let number = min(Int64(digits) ?? .max, 1_000_000_000)
            if name == "timeout" { time = min(time ?? .max, number * 1_000_000_000) }
            if name == "max", number == 0 { return 0 }
        }
        return time
    }

    /// Reads a length; returns false if it is malformed or contradicts an earlier one (RFC 9112 §6.3).
    private mutating func noteLength(_ value: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var length: Int64 = 0
        var digits = 0
        var isOver = false
        for byte in value {
            switch byte {
            case 0x30...0x39:
                // Leading zeros do not count towards the limit.
                guard length < 100_000_000_000_000_000, !isOver else { return false }
                digits += 1
                length = length * 10 + Int64(byte - 0x30)
            case UInt8(ascii: ","):
                guard digits > 0, head.contentLength == nil || head.contentLength == length else { return false }
                head.contentLength = length
                (length, digits, isOver) = (0, 0, false)
            case 0x20, 0x09: isOver = digits > 0
            default: return false
            }
        }
        guard digits > 0, head.contentLength == nil || head.contentLength == length else { return false }
        head.contentLength = length
        return true
    }

    static func trimmed(
        _ line: UnsafeBufferPointer<UInt8>,
        from start: Int
    ) -> Slice<UnsafeBufferPointer<UInt8>> {
        trimmed(line, start..<line.count)
    }

    private static func trimmed(
        _ line: UnsafeBufferPointer<UInt8>,
        _ range: Range<Int>
    ) -> Slice<UnsafeBufferPointer<UInt8>> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, line[start] == 0x20 || line[start] == 0x09 { start += 1 }
        while end > start, line[end - 1] == 0x20 || line[end - 1] == 0x09 { end -= 1 }
        return line[start..<end]
    }
}

/// The fields of a proxy's last response to CONNECT, which libcurl delivers before it sends anything to the server.
struct ProxyHead {
    private(set) var headers = HTTPHeaders()

    /// Reads a line; a line that is not part of a head is ignored.
    mutating func read(_ raw: UnsafeBufferPointer<UInt8>) {
        let line = HeadReader.withoutEnd(raw)
        // After a 407 libcurl sends CONNECT again on the same connection, and another head follows.
        if HeadReader.isStatusLine(line) { headers = HTTPHeaders() }
        guard headers.count < HeadReader.maximumLines else { return }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        guard HTTPToken.isValid(name) else { return }
        headers.add(name, bytes: HeadReader.trimmed(line, from: colon + 1))
    }
}

extension Substring {
    /// The text without spaces and tabs around it.
    fileprivate var trimmed: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
