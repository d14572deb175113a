internal import Refrain

/// Shows the progress of one download: bytes, rate, the time that is left, and retries.
final class TransferProgress: Sendable {
    private struct State {
        var size: Int64 = 0
        var total: Int64?
        var retries = 0
        /// The bytes that an earlier process has left.
        var resumed: Int64 = 0
        var shown = ContinuousClock.now - .seconds(1)
        var isDrawn = false
    }

    private let kind: ProgressKind
    private let url: String
    private let start = ContinuousClock.now
    private let state = Locked(State())

    init(_ kind: ProgressKind, url: String) {
        self.kind = kind
        self.url = url
    }

    /// Records the head of a response.
    func begin(total: Int64?, from offset: Int64) {
        state.withLock { state in
            if state.size == 0 { state.resumed = offset }
            (state.size, state.total) = (offset, total)
        }
    }

    /// Records received bytes.
    func add(_ count: Int) {
        let text = state.withLock { state -> String? in
            state.size += Int64(count)
            let now = ContinuousClock.now
            guard now - state.shown >= (kind == .json ? .seconds(1) : .milliseconds(100)) else { return nil }
            state.shown = now
            return self.text(&state, now - start, event: "progress")
        }
        if let text { Output.error.draw(text) }
    }

    /// Records the outcome of an attempt.
    func note(_ record: AttemptRecord) {
        guard record.decision == .retry, record.reason != .redirected else { return }
        let outcome = record.status.map { "status \($0)" } ?? record.error?.rawValue ?? "no outcome"
        let text = state.withLock { state in
            state.retries += 1
            guard kind == .line else { return self.text(&state, nil, event: "retry") }
            state.isDrawn = true
            return "\r\(outcome), again in \(DurationText.short(record.delay))\u{1B}[K"
        }
        Output.error.draw(text)
    }

    /// Puts the screen in order, and says what the request came to.
    func end(_ outcome: FetchOutcome) {
        let text = state.withLock { state -> String? in
            guard kind == .json else { return state.isDrawn ? Progress.clear : nil }
            var members: [(String, JSON)] = [("status", .optional(outcome.status) { .integer(Int64($0.rawValue)) })]
            if !outcome.isSuccess { members.append(("error", .string(FailureText.cause(outcome)))) }
            return self.text(&state, ContinuousClock.now - start, event: "end", members)
        }
        if let text { Output.error.draw(text) }
    }

    /// The text of an event.
    ///
    /// - Parameter elapsed: the time of the received bytes; nil: none are received, so there is no rate.
    private func text(
        _ state: inout State,
        _ elapsed: Duration?,
        event: String,
        _ further: [(String, JSON)] = []
    ) -> String {
        let rate = Double(state.size - state.resumed) / max(elapsed?.inSeconds ?? 0, 0.001)
        let rest = state.total.map { Double($0 - state.size) / max(rate, 1) }
        guard kind == .line else {
            var members: [(String, JSON)] = [
                ("event", .string(event)), ("url", .string(url)), ("bytes", .integer(state.size)),
                ("total", .optional(state.total) { .integer($0) }),
            ]
            if elapsed != nil {
                members.append(("bytes_per_second", .rounded(rate, places: 0)))
                members.append(("eta_s", .optional(rest) { .rounded($0, places: 1) }))
            }
            members.append(("retries", .integer(Int64(state.retries))))
            return JSON.object(members + further).text + "\n"
        }
        state.isDrawn = true
        var words = [SizeText.short(state.size)]
        if let total = state.total, total > 0 {
            words[0] += " of \(SizeText.short(total)) (\(state.size * 100 / total) %)"
        }
        words.append("\(SizeText.short(Int64(rate)))/s")
        if let rest { words.append("\(DurationText.short(.seconds(min(rest, 1e6)))) left") }
        if state.retries > 0 { words.append("\(state.retries) \(state.retries == 1 ? "retry" : "retries")") }
        return "\r\(words.joined(separator: ", "))\u{1B}[K"
    }
}

/// Reports the bytes of a sink as progress.
final class MeteredSink: ContentSink, DownloadObserver {
    let inner: any ContentSink
    private let progress: TransferProgress

    init(_ inner: any ContentSink, _ progress: TransferProgress) {
        self.inner = inner
        self.progress = progress
    }

    var delivered: Int64 { inner.delivered }
    var canStartOver: Bool { inner.canStartOver }

    func willReceive(_ response: HTTPResponse, from checkpoint: DownloadCheckpoint?) async throws {
        let length = response.headers["Content-Length"].flatMap { Int64($0) }
        progress.begin(total: checkpoint?.total ?? length, from: checkpoint?.offset ?? 0)
        try await (inner as? any DownloadObserver)?.willReceive(response, from: checkpoint)
    }

    func write(_ bytes: [UInt8]) async throws {
        try await inner.write(bytes)
        progress.add(bytes.count)
    }

    func startOver() async throws { try await inner.startOver() }
    func finish() throws { try inner.finish() }
    func discard() { inner.discard() }
}
