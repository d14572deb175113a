#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPBody {
    /// The values of a body in the form of JSON Lines: one JSON text per line, lines of white space alone are skipped.
    ///
    /// ```swift
    /// for try await order in response.body.jsonLines(of: Order.self) { print(order) }
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
    public struct InvalidJSONLine: Error, CustomStringConvertible {
        /// The number of the line, from 1.
        public let line: Int
        /// The decoder's error.
        public let underlyingError: any Error
        /// What happened.
        public var description: String { "line \(line) of the body cannot be decoded: \(underlyingError)" }
    }
}

extension UInt8 {
    /// White space of JSON (RFC 8259 §2).
    fileprivate var isJSONWhitespace: Bool { self == 32 || self == 9 || self == 10 || self == 13 }
}
