extension HTTPBody {
    /// Several parts in one body, `multipart/form-data` (RFC 7578), as a web form sends files.
    ///
    /// Nothing is copied into memory: files and streams are read while they are sent, whatever their size. The length
    /// is known where those of all parts are. The body can be replayed where all its parts can; with a one-shot part
    /// it is a one-shot body. A file is as long as it was when the body was made: one that has grown is sent that far,
    /// and one that has become shorter fails the request.
    ///
    /// - Parameters:
    ///   - parts: the parts, in order.
    ///   - boundary: the line between the parts; a random one unless told otherwise.
    /// - Throws: `InvalidArgument` for a boundary, a content type or a field that cannot be written, and for a part
    ///   that has been read already; ``LocalFileError`` for a file that is not there.
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

    /// One part of a multipart body: a field of a form, or a file.
    public struct Part: Sendable {
        /// The name of the form's field.
        public var name: String
        /// The name of the file, for parts that are files to the server.
        public var filename: String?
        /// What the part carries; its content type is the part's.
        public var body: HTTPBody

        /// Makes a part of any body.
        public init(name: String, filename: String? = nil, body: HTTPBody) {
            self.name = name
            self.filename = filename
            self.body = body
        }

        /// A field with a text for its value.
        public static func text(_ name: String, _ value: String) -> Part {
            Part(name: name, body: .text(value, contentType: nil))
        }

        /// Bytes in memory.
        public static func bytes(
            _ name: String,
            _ bytes: some Sequence<UInt8>,
            filename: String? = nil,
            contentType: String? = nil
        ) -> Part {
            Part(name: name, filename: filename, body: .bytes(bytes, contentType: contentType))
        }

        /// A local file; the server is told the last part of its path unless another name is given.
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
