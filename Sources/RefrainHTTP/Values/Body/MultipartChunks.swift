/// A segment of a multipart body: framing bytes, or the content of a part.
enum MultipartSegment: Sendable {
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
struct MultipartChunks: AsyncSequence, Sendable {
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
