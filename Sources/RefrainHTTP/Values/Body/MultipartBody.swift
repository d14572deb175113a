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
        let contentType = "multipart/form-data; boundary=\(MultipartFraming.quotedIfNeeded(boundary))"
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

    /// A boundary that no content contains by chance: 112 random bits.
    package static var randomBoundary: String { MultipartFraming.randomBoundary() }

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
