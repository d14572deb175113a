// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension HTTPBody {
    /// A body of several parts, `multipart/form-data` (RFC 7578), as a web form sends files.
    ///
    /// Files and streams are not loaded into memory; they are read while they are sent. The length is known if that of
    /// all parts is. The body is replayable if all its parts are; with a one-shot part it is a one-shot body. A file's
    /// length is fixed when the body is made: a file that has grown is sent up to that length, and a file that has
    /// become shorter fails the request.
    ///
    /// - Parameters:
    ///   - parts: the parts, in order.
    ///   - boundary: the delimiter between the parts. Defaults to a random one.
    /// - Throws: `InvalidArgument` for an invalid boundary, content type or field name, and for a part that was already
    ///   read; ``HTTPBody/FileError`` for a file that does not exist.
    public static func multipart(_ parts: [Part], boundary: String? = nil) throws -> HTTPBody {
        let boundary = try boundary.map { try MultipartFraming.checked($0) } ?? MultipartFraming.randomBoundary()
        var segments: [MultipartSegment] = []
        for part in parts {
            segments.append(.bytes(try MultipartFraming.head(of: part, boundary)))
            segments.append(try MultipartSegment(part))
            segments.append(.bytes(Array("\r\n".utf8)))
        }
        segments.append(.bytes(Array("--\(boundary)--\r\n".utf8)))

        let length = segments.reduce(Int64?(0)) { sum, segment in
            guard let sum, let length = segment.length else { return nil }
            let (total, overflow) = sum.addingReportingOverflow(length)
            return overflow ? nil : total
        }
        let contentType = multipartContentType(boundary: boundary)
        let chunks = MultipartChunks(segments: segments)
        if segments.allSatisfy(\.isReplayable) {
            return HTTPBody(.restartable(length: length) { ChunkSource(chunks) }, contentType: contentType)
        }
        return HTTPBody(.oneShot(OneShotSource(length: length, ChunkSource(chunks))), contentType: contentType)
    }

    /// A multipart body in memory.
    ///
    /// - Throws: as ``multipart(_:boundary:)``, and `InvalidArgument` for a part that is a stream.
    package static func encodedMultipart(_ parts: [Part], boundary: String) throws -> Data {
        let boundary = try MultipartFraming.checked(boundary)
        var data = Data()
        for part in parts {
            data.append(contentsOf: try MultipartFraming.head(of: part, boundary))
            switch part.body.storage {
            case .bytes(let bytes): data.append(bytes)
            case .file(let path): data.append(contentsOf: try FileChunks(path: path).remainder())
            case .restartable, .oneShot:
                throw InvalidArgument("part \(part.name)", is: "a stream", expected: "bytes or a file")
            }
            data.append(contentsOf: "\r\n".utf8)
        }
        data.append(contentsOf: "--\(boundary)--\r\n".utf8)
        return data
    }

    /// The content type of a multipart body with this boundary.
    package static func multipartContentType(boundary: String) -> String {
        "multipart/form-data; boundary=\(MultipartFraming.quotedIfNeeded(boundary))"
    }

    /// A boundary that no content contains by chance: 112 random bits.
    public static var randomBoundary: String { MultipartFraming.randomBoundary() }

    /// One part of a multipart body: a form field or a file.
    public struct Part: Sendable {
        /// The name of the form field.
        public var name: String
        /// The file name sent to the server, for parts that are files.
        public var filename: String?
        /// The content of the part; its content type is sent as the part's.
        public var body: HTTPBody

        /// Makes a part with any body.
        public init(name: String, filename: String? = nil, body: HTTPBody) {
            self.name = name
            self.filename = filename
            self.body = body
        }

        /// A part with a text value.
        public static func text(_ name: String, _ value: String) -> Part {
            Part(name: name, body: .text(value, contentType: nil))
        }

        /// A part with bytes in memory.
        public static func bytes(
            _ name: String,
            _ bytes: some Sequence<UInt8>,
            filename: String? = nil,
            contentType: String? = nil
        ) -> Part {
            Part(name: name, filename: filename, body: .bytes(bytes, contentType: contentType))
        }

        /// A part with a local file.
        ///
        /// The file name defaults to the last component of the path.
        public static func file(
            _ name: String,
            _ path: String,
            filename: String? = nil,
            contentType: String = "application/octet-stream"
        ) -> Part {
            let last = path.split(separator: "/").last.map(String.init) ?? "file"
            return Part(name: name, filename: filename ?? last, body: .file(path, contentType: contentType))
        }
    }
}

/// The framing of multipart bodies (RFC 2046 §5.1, RFC 7578, WHATWG HTML Standard §4.10.21.8).
private enum MultipartFraming {
    /// The delimiter and the head of a part.
    static func head(of part: HTTPBody.Part, _ boundary: String) throws(InvalidArgument) -> [UInt8] {
        var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(escaped(normalized(part.name)))\""
        if let filename = part.filename { head += "; filename=\"\(escaped(filename))\"" }
        head += "\r\n"
        if let contentType = part.body.contentType {
            guard !contentType.isEmpty, HTTPToken.isValidFieldValue(contentType) else {
                throw InvalidArgument("contentType", is: contentType, expected: "a media type such as image/png")
            }
            head += "Content-Type: \(contentType)\r\n"
        }
        return Array((head + "\r\n").utf8)
    }

    /// Checks a boundary: 1 to 70 characters of RFC 2046's set, not ending in a space.
    static func checked(_ boundary: String) throws(InvalidArgument) -> String {
        let bytes = boundary.utf8
        guard (1...70).contains(bytes.count), bytes.last != UInt8(ascii: " "), bytes.allSatisfy(isBoundaryByte) else {
            throw InvalidArgument(
                "boundary",
                is: boundary,
                expected: "1 to 70 letters, digits, spaces or any of '()+_,-./:=?, and not end with a space"
            )
        }
        return boundary
    }

    /// A boundary of 112 random bits.
    static func randomBoundary() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = [generator.next(), generator.next()].map { (half: UInt64) in
            let text = String(half, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        // As long as Alamofire's, so that code which counts the bytes of its forms finds the same number.
        return "refrain" + digits.joined().prefix(28)
    }

    /// The boundary as a parameter value, quoted if it is not a token.
    static func quotedIfNeeded(_ boundary: String) -> String {
        HTTPToken.isValid(boundary) ? boundary : "\"\(boundary)\""
    }

    /// A name with its line breaks normalized to CR LF, as forms send them.
    private static func normalized(_ name: String) -> String {
        var scalars = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\r": scalars.append(contentsOf: "\r\n".unicodeScalars)
            case "\n" where previous == "\r": break
            case "\n": scalars.append(contentsOf: "\r\n".unicodeScalars)
            default: scalars.append(scalar)
            }
            previous = scalar
        }
        return String(scalars)
    }

    /// A name or file name with quotes and line breaks percent-encoded.
    private static func escaped(_ name: String) -> String {
        name.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            case "\"": escaped += "%22"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isBoundaryByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default:
            "'()+_,-./:=? ".utf8.contains(byte)
        }
    }
}

/// A segment of a multipart body: framing bytes, or the content of a part.
private enum MultipartSegment: Sendable {
    case bytes([UInt8])
    case file(path: String, length: Int64)
    case body(HTTPBody)

    /// Makes the segment of a part's content, and fixes the length of a file.
    init(_ part: HTTPBody.Part) throws {
        switch part.body.storage {
        case .bytes:
            self = .body(part.body)
        case .file(let path):
            self = .file(path: path, length: try FileChunks(path: path).length)
        case .restartable, .oneShot:
            guard part.body.replayability != .onceAndRead else {
                throw InvalidArgument(
                    "body of the part \(part.name)",
                    is: "a one-shot stream that has been read",
                    expected: "unread"
                )
            }
            self = .body(part.body)
        }
    }

    var length: Int64? {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, let length): length
        case .body(let body): body.length
        }
    }

    var isReplayable: Bool {
        guard case .body(let body) = self else { return true }
        return body.replayability == .replayable || body.replayability == .none
    }
}

/// The sequence of chunks of a multipart body.
private struct MultipartChunks: AsyncSequence, Sendable {
    typealias Element = HTTPBody.Chunk

    let segments: [MultipartSegment]

    func makeAsyncIterator() -> Iterator { Iterator(segments: segments[...]) }

    struct Iterator: AsyncIteratorProtocol {
        private enum Reading {
            case file(ChunkSource)
            case body(HTTPBody.Iterator, announced: Int64?, delivered: Int64)
        }

        private var segments: ArraySlice<MultipartSegment>
        private var reading: Reading?

        init(segments: ArraySlice<MultipartSegment>) { self.segments = segments }

        mutating func next() async throws -> HTTPBody.Chunk? {
            while true {
                if let reading {
                    if let chunk = try await pull(reading) { return chunk }
                    self.reading = nil
                }
                guard let segment = segments.popFirst() else { return nil }
                switch segment {
                case .bytes(let bytes):
                    guard bytes.isEmpty else { return bytes }
                case .file(let path, let length):
                    reading = .file(try FileChunks(path: path, promised: length).source)
                case .body(let body):
                    reading = .body(body.makeAsyncIterator(), announced: body.length, delivered: 0)
                }
            }
        }

        private mutating func pull(_ reading: Reading) async throws -> HTTPBody.Chunk? {
            switch reading {
            case .file(let source):
                return try await source.next()
            case .body(var iterator, let announced, let delivered):
                let chunk = try await iterator.next()
                let (sum, overflow) = delivered.addingReportingOverflow(Int64(chunk?.count ?? 0))
                let now = overflow ? .max : sum
                // A part of another length than announced would shift all following boundaries.
                if let announced, chunk == nil ? now != announced : now > announced {
                    throw HTTPBody.LengthMismatch(announced: announced, delivered: now)
                }
                self.reading = .body(iterator, announced: announced, delivered: now)
                return chunk
            }
        }
    }
}

extension HTTPBody {
    /// Thrown when a body delivers another number of bytes than announced.
    public struct LengthMismatch: Error, Hashable, Sendable, CustomStringConvertible {
        /// The announced number of bytes.
        public let announced: Int64
        /// The number of bytes delivered when the mismatch was detected.
        public let delivered: Int64

        /// Makes the error.
        public init(announced: Int64, delivered: Int64) {
            self.announced = announced
            self.delivered = delivered
        }

        /// A sentence with both numbers.
        public var description: String { "a body announced \(announced) bytes, and delivered \(delivered)" }
    }
}
