// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The destination of the content of one request.
///
/// A class, because many functions take it, and each would copy a structure.
final class FetchTarget: Sendable {
    let sink: any ContentSink
    let progress: TransferProgress?
    /// Whether the content is compared with the digests that the server gives.
    let comparesFields: Bool
    let isFinished = Locked(false)
    /// The innermost sink.
    private let inner: any ContentSink
    /// Whether that is a file that is continued; a comparison of types is faster than a cast.
    private let isResumable: Bool
    /// Writes the heads before the content; nil: not requested.
    let heads: HeadSink?
    /// The content, if a later run can continue it.
    let file: (any PartialContent)?

    /// Makes a target.
    ///
    /// - Parameters:
    ///   - log: the heads that are written before the content; nil: none.
    ///   - progress: receives the number of bytes.
    init(
        _ sink: any ContentSink,
        _ log: ResponseLog?,
        comparesFields: Bool,
        progress: TransferProgress?
    ) {
        inner = sink
        isResumable = type(of: sink) == ResumableFile.self
        heads = log.map { HeadSink(sink, $0) }
        let withHeads = heads ?? sink
        self.sink = progress.map { MeteredSink(withHeads, $0) } ?? withHeads
        self.progress = progress
        self.comparesFields = comparesFields
        file = sink.partial
    }

    /// The file that is written, if one is.
    var path: String? { inner.filePath }

    var memory: MemorySink? { isResumable ? nil : inner as? MemorySink }
    var segmented: SegmentedFile? { isResumable ? nil : inner as? SegmentedFile }

    /// The download into the sink, from where an earlier process stopped.
    var download: Download { file?.download(to: sink) ?? Download(to: sink) }

    /// Whether an earlier run has left a partial file or a complete one.
    var hasOlderContent: Bool {
        guard let file, let path else { return false }
        return file.isPartial || Directory.kind(of: path) != .nothing
    }

    /// Whether there is a file that the content would replace.
    var hasOlderFile: Bool { path.map { Directory.kind(of: $0) == .file } ?? false }

    /// Begins a body that came with the response instead of the download; writes the heads, if any.
    func begin(_ response: HTTPResponse) async throws {
        try await sink.willReceive(response, from: nil)
    }

    /// Compares the content with the expected digests.
    func check(_ expected: [ContentDigest]) throws {
        for algorithm in ContentDigest.Algorithm.allCases {
            let digests = expected.filter { $0.algorithm == algorithm }
            guard !digests.isEmpty, let actual = try digest(algorithm) else { continue }
            if let wrong = digests.first(where: { $0.bytes != actual }) {
                throw DigestMismatch(expected: wrong, actual: actual)
            }
        }
    }

    /// The digest of the content; nil if it is not kept.
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
