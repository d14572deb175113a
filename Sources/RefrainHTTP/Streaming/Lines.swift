// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPBody {
    /// The lines of the body, as text, in the order and at the pace in which they are read.
    ///
    /// ```swift
    /// request.streamsResponse = true
    /// let response = try await loader.response(for: request)
    /// for try await line in response.body.lines { print(line) }
    /// ```
    ///
    /// A line ends with LF or CR LF, which it does not contain. Empty lines are kept, and so is a last line without a
    /// terminator. Bytes that are not UTF-8 become U+FFFD. The body is pulled as the lines are: a slow reader slows the
    /// sender down. A line of more than 1 MiB throws ``LineTooLong``; ``lines(upTo:)`` takes another limit.
    public var lines: Lines { lines(upTo: Lines.defaultLimit) }

    /// The lines of the body, with a limit for the length of one.
    ///
    /// - Parameter limit: the largest number of bytes of one line. Values below 1 count as 1.
    public func lines(upTo limit: Int) -> Lines { Lines(body: self, limit: Swift.max(1, limit)) }

    /// The lines of a body; see ``HTTPBody/lines``.
    public struct Lines: AsyncSequence, Sendable {
        /// One line, without its terminator.
        public typealias Element = String

        /// The limit of ``HTTPBody/lines`` in bytes: 1 MiB.
        public static let defaultLimit = 1_048_576

        let body: HTTPBody
        let limit: Int

        /// Starts to read the body; a body that can be replayed starts from its beginning each time.
        public func makeAsyncIterator() -> Iterator {
            Iterator(bytes: ByteLines(body, LineSplitter(.lineFeed, limit: limit)))
        }

        /// Reads a body line by line.
        public struct Iterator: AsyncIteratorProtocol {
            var bytes: ByteLines

            /// The next line, or nil at the end.
            ///
            /// - Throws: ``LineTooLong``, or the error of the body.
            public mutating func next() async throws -> String? {
                try await bytes.next().map { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    /// A line of a body is longer than the reader allowed.
    public struct LineTooLong: LocalizedError, Hashable, Sendable, CustomStringConvertible {
        /// The limit in bytes.
        public let limit: Int
        /// The number of the line, from 1.
        public let line: Int
        /// What happened.
        public var description: String { "line \(line) of the body is longer than \(limit) bytes" }
        /// The ``description``, for `localizedDescription`.
        public var errorDescription: String? { description }
    }

    /// Reads the lines of a body as bytes.
    struct ByteLines {
        private var chunks: HTTPBody.Iterator
        private var splitter: LineSplitter
        private var chunk: ArraySlice<UInt8> = []

        init(_ body: HTTPBody, _ splitter: LineSplitter) {
            chunks = body.makeAsyncIterator()
            self.splitter = splitter
        }

        /// The number of lines that were returned.
        var count: Int { splitter.count }

        /// The beginning of a line whose end has not come.
        var incomplete: [UInt8] { splitter.incomplete }

        mutating func next() async throws -> [UInt8]? {
            while true {
                if let line = try splitter.next(in: &chunk) { return line }
                guard let next = try await chunks.next() else { return splitter.finish() }
                chunk = next[...]
            }
        }
    }
}

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
    /// The beginning of the next line.
    private(set) var incomplete: [UInt8] = []
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
    ///
    /// An event stream has no such line: what it ends within is discarded (HTML Standard §9.2.6).
    mutating func finish() -> [UInt8]? {
        incomplete.isEmpty || terminator == .lineFeedOrCarriageReturn ? nil : take()
    }

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

extension HTTPBody {
    /// The values of a body in the form of JSON Lines: one JSON text per line, lines of white space alone are skipped.
    ///
    /// ```swift
    /// for try await order in response.body.jsonLines(of: Order.self) {
    ///     print(order)
    /// }
    /// ```
    ///
    /// The body is pulled as the values are. A line that cannot be decoded throws ``InvalidJSONLine`` with its number.
    ///
    /// - Parameters:
    ///   - type: the type of a value.
    ///   - decoder: decodes each line. Defaults to a `JSONDecoder` as it is made.
    ///   - limit: the largest number of bytes of one line, beyond which ``LineTooLong`` is thrown. Defaults to 1 MiB.
    public func jsonLines<Value: Decodable>(
        of type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder(),
        upTo limit: Int = Lines.defaultLimit
    ) -> JSONLines<Value> {
        JSONLines(body: self, decoder: decoder, limit: Swift.max(1, limit))
    }

    /// The values of a body in the form of JSON Lines; see ``HTTPBody/jsonLines(of:decoder:upTo:)``.
    public struct JSONLines<Value: Decodable>: AsyncSequence {
        /// One value.
        public typealias Element = Value

        let body: HTTPBody
        let decoder: JSONDecoder
        let limit: Int

        /// Starts to read the body; a body that can be replayed starts from its beginning each time.
        public func makeAsyncIterator() -> Iterator {
            Iterator(bytes: ByteLines(body, LineSplitter(.lineFeed, limit: limit)), decoder: decoder)
        }

        /// Reads a body value by value.
        public struct Iterator: AsyncIteratorProtocol {
            var bytes: ByteLines
            let decoder: JSONDecoder

            /// The next value, or nil at the end.
            ///
            /// - Throws: ``InvalidJSONLine``, ``LineTooLong``, or the error of the body.
            public mutating func next() async throws -> Value? {
                while let line = try await bytes.next() {
                    guard !line.allSatisfy(\.isJSONWhitespace) else { continue }
                    do {
                        return try decoder.decode(Value.self, from: Data(line))
                    } catch {
                        throw InvalidJSONLine(line: bytes.count, underlyingError: error)
                    }
                }
                return nil
            }
        }
    }

    /// A line of a body is not the JSON text of a value.
    public struct InvalidJSONLine: LocalizedError, CustomStringConvertible {
        /// The number of the line, from 1.
        public let line: Int
        /// The decoder's error.
        public let underlyingError: any Error
        /// What happened.
        public var description: String { "line \(line) of the body cannot be decoded: \(underlyingError)" }
        /// The ``description``, for `localizedDescription`.
        public var errorDescription: String? { description }
    }
}

extension UInt8 {
    /// White space of JSON (RFC 8259 §2).
    fileprivate var isJSONWhitespace: Bool { self == 32 || self == 9 || self == 10 || self == 13 }
}
