internal import Refrain

/// Puts the heads of the answers in front of a content.
final class HeadSink: ContentSink, DownloadObserver {
    private let sink: any ContentSink
    private let log: ResponseLog
    private let written = Locked<Int64>(0)

    init(_ sink: any ContentSink, _ log: ResponseLog) {
        self.sink = sink
        self.log = log
    }

    /// The bytes of the content, without the heads.
    var delivered: Int64 { max(0, sink.delivered - written.withLock { $0 }) }
    /// The bytes of the heads in front of it.
    var headSize: Int64 { written.withLock { $0 } }
    var canStartOver: Bool { sink.canStartOver }

    func willReceive(_ response: HTTPResponse, from checkpoint: DownloadCheckpoint?) async throws {
        try await (sink as? any DownloadObserver)?.willReceive(response, from: checkpoint)
        guard (checkpoint?.offset ?? 0) == 0 else { return }
        if written.withLock({ $0 }) > 0 { try await startOver() }
        try await writeHeads()
    }

    /// Writes the heads; for answers that bring no content, too.
    func writeHeads() async throws {
        let bytes = log.shown.flatMap(\.bytes)
        written.withLock { $0 = Int64(bytes.count) }
        try await sink.write(bytes)
    }

    func write(_ bytes: [UInt8]) async throws { try await sink.write(bytes) }

    func startOver() async throws {
        written.withLock { $0 = 0 }
        try await sink.startOver()
    }

    func finish() throws { try sink.finish() }
    func discard() { sink.discard() }
}
