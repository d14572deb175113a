// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The progress of one request: bytes, rate, the time that is left, and what it waits for.
final class TransferProgress: Sendable {
    private struct State {
        var size: Int64 = 0
        var total: Int64?
        /// The bytes that an earlier process has left.
        var resumed: Int64 = 0
        var hasBegun = false
        var retries = 0
        /// Whether bytes came since the last attempt ended.
        var hasAdvanced = false
        /// When the first of the attempts that failed in a row ended.
        var failingSince: ContinuousClock.Instant?
        /// What the request waits for.
        var notice: RetryNotice?
        /// When the last event was written as JSON.
        var written = ContinuousClock.now - .seconds(1)
    }

    /// The name of the file or of the URL's end, for lines with several requests.
    let name: String
    /// The URL, without user and password.
    let url: String
    private let kind: ProgressKind
    private let limits: RetryNotice.Limits
    private let start = ContinuousClock.now
    private let state = Locked(State())
    /// Receives what happened.
    private let report: @Sendable (Event) -> Void

    /// Something to show.
    enum Event: Sendable {
        /// An attempt has failed, and another one follows.
        case retry(RetryNotice, of: TransferProgress)
        /// A line of JSON.
        case json(String)
    }

    init(
        _ kind: ProgressKind,
        url: String,
        name: String,
        _ limits: RetryNotice.Limits,
        report: @escaping @Sendable (Event) -> Void
    ) {
        self.kind = kind
        self.url = url
        self.name = name
        self.limits = limits
        self.report = report
    }

    /// Records the head of a response.
    func begin(total: Int64?, from offset: Int64) {
        state.withLock { state in
            if !state.hasBegun { state.resumed = offset }
            (state.size, state.total, state.hasBegun) = (offset, total, true)
        }
    }

    /// Records received bytes.
    func add(_ count: Int) {
        let text = state.withLock { state -> String? in
            state.size += Int64(count)
            state.hasAdvanced = true
            guard kind == .json else { return nil }
            let now = ContinuousClock.now
            guard now - state.written >= .seconds(1) else { return nil }
            state.written = now
            return self.json(state, now - start, event: "progress")
        }
        if let text { report(.json(text)) }
    }

    /// Records the outcome of an attempt.
    func note(_ record: AttemptRecord) {
        guard record.decision == .retry, record.reason != .redirected else { return }
        let now = ContinuousClock.now
        let event = state.withLock { state -> Event in
            state.retries += 1
            if state.hasAdvanced, record.error != nil { state.failingSince = nil }
            state.hasAdvanced = false
            let failingSince = state.failingSince ?? now
            state.failingSince = failingSince
            guard kind != .json else { return .json(json(state, nil, event: "retry")) }
            let notice = RetryNotice(record, limits, start: start, failingSince: failingSince, now: now)
            state.notice = notice.isShort ? nil : notice
            return .retry(notice, of: self)
        }
        report(event)
    }

    /// Returns what the request waited for, and forgets it, when the wait ends before the next drawing.
    ///
    /// Before the next attempt begins, so that its body is not printed into the line.
    func takeEndedNotice(now: ContinuousClock.Instant = .now) -> RetryNotice? {
        state.withLock { state in
            guard let notice = state.notice, notice.instant <= now + .milliseconds(120) else { return nil }
            state.notice = nil
            return notice
        }
    }

    /// What the request waits for; nil: it is under way.
    var notice: RetryNotice? { state.withLock { $0.notice } }
    /// The bytes that this process has received.
    var received: Int64 { state.withLock { max(0, $0.size - $0.resumed) } }
    /// How many attempts failed and were followed by another one.
    var retries: Int { state.withLock { $0.retries } }

    /// Records the end of the request; returns the notice of a wait that the end cut short.
    func end(_ outcome: FetchOutcome) -> RetryNotice? {
        guard kind == .json else {
            return state.withLock { state in
                defer { state.notice = nil }
                return state.notice
            }
        }
        var members: [(String, JSON)] = [("status", .optional(outcome.status) { .integer(Int64($0.rawValue)) })]
        if !outcome.isSuccess { members.append(("error", .string(FailureText.cause(outcome)))) }
        report(.json(state.withLock { json($0, ContinuousClock.now - start, event: "end", members) }))
        return nil
    }

    /// The share that has arrived, in a few words: `45 %`, or the bytes where the length is unknown.
    var share: String {
        let state = state.withLock { $0 }
        if let notice = state.notice {
            let wait = max(.zero, ContinuousClock.now.duration(to: notice.instant))
            return "again in \(Decimals.text(wait.inSeconds, places: 1)) s"
        }
        guard let total = state.total, total > 0 else { return SizeText.short(state.size) }
        return "\(Self.percent(state.size, of: total)) %"
    }

    /// The share that has arrived, from 0 to 1; 0 where the length is unknown.
    var fraction: Double {
        state.withLock { state in
            state.total.map { $0 > 0 ? min(1, Double(state.size) / Double($0)) : 0 } ?? 0
        }
    }

    /// The line of a request that is alone, in the most words that fit.
    func line(_ columns: Int, rate: Double) -> String {
        let state = state.withLock { $0 }
        if let notice = state.notice { return notice.countdown(columns) }
        let elapsed = ContinuousClock.now - start
        guard state.hasBegun else {
            let attempt = state.retries > 0 ? "attempt \(state.retries + 1), " : ""
            return "no response yet, \(attempt)\(Decimals.text(elapsed.inSeconds, places: 1)) s"
        }
        let size = SizeText.short(state.size)
        var words = [size, "\(SizeText.short(Int64(rate)))/s"]
        if let total = state.total, total > 0 {
            words[0] = "\(size) of \(SizeText.short(total)) (\(Self.percent(state.size, of: total)) %)"
            if rate > 0 {
                words.append(
                    "\(DurationText.short(.seconds(min(Double(max(0, total - state.size)) / rate, 1e6)))) left"
                )
            }
        }
        if state.retries > 0 { words.append("\(state.retries) \(state.retries == 1 ? "retry" : "retries")") }
        while words.count > 1, words.joined(separator: ", ").count >= columns { words.removeLast() }
        return words.joined(separator: ", ")
    }

    private static func percent(_ size: Int64, of total: Int64) -> Int {
        min(100, Int(Double(size) / Double(total) * 100))
    }

    /// An event as a line of JSON.
    ///
    /// - Parameter elapsed: the time of the received bytes; nil: none are received, so there is no rate.
    private func json(
        _ state: State,
        _ elapsed: Duration?,
        event: String,
        _ further: [(String, JSON)] = []
    ) -> String {
        let rate = Double(state.size - state.resumed) / max(elapsed?.inSeconds ?? 0, 0.001)
        let rest = state.total.map { Double($0 - state.size) / max(rate, 1) }
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
}

/// Reports the bytes of a sink as progress.
final class MeteredSink: ContentSink {
    let inner: any ContentSink
    private let progress: TransferProgress

    init(_ inner: any ContentSink, _ progress: TransferProgress) {
        self.inner = inner
        self.progress = progress
    }

    var delivered: Int64 { inner.delivered }
    var canStartOver: Bool { inner.canStartOver }

    func willReceive(_ response: HTTPResponse, from checkpoint: Download.Checkpoint?) async throws {
        let length = response.headers["Content-Length"].flatMap { Int64($0) }
        progress.begin(total: checkpoint?.total ?? length, from: checkpoint?.offset ?? 0)
        try await inner.willReceive(response, from: checkpoint)
    }

    func write(_ bytes: [UInt8]) async throws {
        try await inner.write(bytes)
        progress.add(bytes.count)
    }

    func startOver() async throws { try await inner.startOver() }
    func finish() throws { try inner.finish() }
    func discard() { inner.discard() }
}
