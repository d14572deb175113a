// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// Writes the heads of the answers before a body.
final class HeadSink: ContentSink {
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

    func willReceive(_ response: HTTPResponse, from checkpoint: Download.Checkpoint?) async throws {
        try await sink.willReceive(response, from: checkpoint)
        guard (checkpoint?.offset ?? 0) == 0 else { return }
        if written.withLock({ $0 }) > 0 { try await startOver() }
        try await writeHeads()
    }

    /// Writes the heads; for answers that have no body, too.
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

/// The content of a failed answer, as text for a terminal.
enum ErrorContent {
    /// How much of it is shown, in bytes of UTF-8.
    static let limit = 2000

    /// The text of an answer that failed, each line indented; nil where it is none.
    static func text(_ response: HTTPResponse) -> String? {
        guard let bytes = response.body.bytesInMemory, !bytes.isEmpty else {
            return nil
        }
        let type = response.headers["Content-Type"]?.lowercased() ?? "text/plain"
        let isText = type.hasPrefix("text/") || ["json", "xml", "yaml", "urlencoded"].contains { type.contains($0) }
        // A page for a browser says little in a terminal.
        guard isText, !type.hasPrefix("text/html"), !response.headers.contains("Content-Encoding") else { return nil }
        var end = min(bytes.count, limit)
        // Not within a character.
        while end > 0, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        guard let text = String(validating: bytes[..<end], as: UTF8.self) else { return nil }
        var lines = text.split(whereSeparator: \.isNewline).map { "  " + Sanitized.line(String($0)) }
        guard !lines.isEmpty else { return nil }
        if end < bytes.count { lines.append("  …") }
        return lines.joined(separator: "\n") + "\n"
    }
}
