internal import Refrain

/// Where the content of one request goes.
struct FetchTarget: Sendable {
    private(set) var sink: any ContentSink
    private(set) var progress: TransferProgress?
    /// Whether the content is compared with the digests that the server gives.
    var comparesFields = false
    let isFinished = Locked(false)
    private let wanted: String?
    /// The sink behind all others.
    private let inner: any ContentSink
    /// Whether that is a file that is continued: most are, and a comparison of types is quicker than casts to others.
    private let isResumable: Bool
    /// Writes the heads in front of the content, where they were asked for.
    let heads: HeadSink?
    /// The content, where a later run can go on with it.
    let file: (any PartialContent)?

    init(_ sink: any ContentSink, _ log: ResponseLog? = nil, path: String? = nil) {
        inner = sink
        isResumable = type(of: sink) == ResumableFile.self
        heads = log.map { HeadSink(sink, $0) }
        self.sink = heads ?? sink
        file = sink.partial
        wanted = path
    }

    /// The file that is written, if one is.
    var path: String? { wanted.map { isResumable ? $0 : (inner as? NamedByServerSink)?.path ?? $0 } }

    /// Tells the progress of what comes.
    mutating func meter(_ progress: TransferProgress) {
        sink = MeteredSink(sink, progress)
        self.progress = progress
    }

    var memory: MemorySink? { isResumable ? nil : inner as? MemorySink }
    var segmented: SegmentedFile? { isResumable ? nil : inner as? SegmentedFile }

    /// The download into the sink, from where an earlier process stopped.
    var download: Download { file?.download(to: sink) ?? Download(to: sink) }

    /// Compares what has come with the digests that it must have.
    func check(_ expected: [ContentDigest]) throws {
        for algorithm in ContentDigest.Algorithm.allCases {
            let digests = expected.filter { $0.algorithm == algorithm }
            guard !digests.isEmpty, let actual = try digest(algorithm) else { continue }
            if let wrong = digests.first(where: { $0.bytes != actual }) {
                throw DigestMismatch(expected: wrong, actual: actual)
            }
        }
    }

    /// The digest of what has come; nil where it is not kept.
    private func digest(_ algorithm: ContentDigest.Algorithm) throws -> [UInt8]? {
        if let digesting = inner as? DigestingSink { return digesting.digest() }
        let computation = ContentDigest.Computation(algorithm)
        return try inner.readBack { computation.update($0) } ? computation.finish() : nil
    }

    func finish() throws {
        try sink.finish()
        isFinished.withLock { $0 = true }
    }
}
