// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The progress of a run: what its requests have received and wait for, as a person sees it on standard error.
final class Progress: Sendable {
    /// The sum of a run.
    struct Sum: Sendable, Equatable {
        var done = 0
        var failed = 0
        var skipped = 0
        /// The failed requests of which a partial file is kept.
        var partial = 0
        /// The bytes of these partial files.
        var partialBytes: Int64 = 0
        /// The bytes of the files and bodies that are complete.
        var bytes: Int64 = 0
        var retries = 0

        /// Counts an outcome, or takes it back with -1.
        fileprivate mutating func count(_ outcome: FetchOutcome, _ number: Int = 1) {
            let size = Int64(number) * outcome.bytes
            if outcome.isSuccess {
                done += number
                bytes += size
            } else {
                failed += number
                guard outcome.isPartial else { return }
                partial += number
                partialBytes += size
            }
        }
    }

    private struct State {
        var total: Int
        var sum = Sum()
        /// The bytes that ended requests have received, also those of failed attempts.
        var received: Int64 = 0
        var underWay: [Int: TransferProgress] = [:]
        /// The received bytes at the last drawings, from which the rate is computed.
        var samples: [(time: ContinuousClock.Instant, bytes: Int64)] = []
    }

    private let kind: ProgressKind
    private let tellsRetries: Bool
    private let isAlone: Bool
    /// Whether the number of requests is known from the beginning.
    private let knowsTotal: Bool
    /// Whether the received bytes are shown while they arrive.
    private let metersBytes: Bool
    /// Whether the line is drawn.
    private let isLive: Bool
    private let limits: RetryNotice.Limits
    let line: StatusLine
    private let start = ContinuousClock.now
    private let state: Locked<State>

    init(_ settings: GetSettings, _ line: StatusLine) {
        kind = settings.display.progress
        tellsRetries = settings.display.tellsRetries
        isAlone = settings.isAlone
        knowsTotal = !settings.readsStandardInput
        isLive = kind == .line && line.isTerminal
        // A line among the printed bytes would become part of them.
        let printsOnTerminal = settings.destination.hasStreams && Output.standard.isTerminal
        metersBytes = kind == .json || (isLive && !printsOnTerminal)
        limits = RetryNotice.Limits(settings.options.policy, timeout: settings.template.timeout)
        self.line = line
        state = Locked(State(total: settings.jobCount))
    }

    /// Counts so many requests more, or less, than were known before the first ones were made.
    func expect(_ further: Int) { state.withLock { $0.total += further } }

    /// The sum so far, and the time that it took.
    var sum: (Sum, elapsed: Duration) { (state.withLock { $0.sum }, ContinuousClock.now - start) }

    /// Draws the line until the task is cancelled.
    func run() async {
        guard isLive else { return }
        await line.redraw { columns in self.text(columns) }
    }

    // MARK: One request

    /// Begins with a request: observes its attempts.
    ///
    /// - Returns: the progress, with whether it receives the bytes; nil: nothing is shown.
    func begin(_ request: inout HTTPRequest, _ job: FetchJob, number: Int) -> TransferProgress? {
        guard tellsRetries || kind == .json || isLive else { return nil }
        let progress = TransferProgress(
            kind,
            url: SanitizedURL.shown(job.request.url),
            name: job.file.map(Self.lastPart) ?? Self.lastPart(of: SanitizedURL.text(job.request.url)),
            limits
        ) { [self] event in show(event) }
        request.attemptObserver = { progress.note($0) }
        if isLive { state.withLock { $0.underWay[number] = progress } }
        return progress
    }

    /// The progress of a request if it receives the bytes.
    func metered(_ progress: TransferProgress?) -> TransferProgress? { metersBytes ? progress : nil }

    /// Counts the outcome of a request.
    func end(_ progress: TransferProgress?, _ outcome: FetchOutcome) {
        let notice = progress?.end(outcome)
        if isLive, isAlone, let notice { line.say("\(notice.past)\n") }
        let retries = outcome.attempts.count { $0.decision == .retry && $0.reason != .redirected }
        state.withLock { state in
            state.underWay[outcome.index] = nil
            state.received += progress?.received ?? 0
            state.sum.retries += retries
            state.sum.count(outcome)
        }
    }

    /// Takes back an outcome that was counted.
    func withdraw(_ outcome: FetchOutcome) { state.withLock { $0.sum.count(outcome, -1) } }

    /// Counts requests that were done in an earlier run.
    func skip(_ count: Int = 1) { state.withLock { $0.sum.skipped += count } }

    /// The last part of a path or of a URL's path; the host of a URL without one.
    private static func lastPart(of text: String) -> String {
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        return text[..<end].split(separator: "/").last.map(String.init) ?? text
    }

    private func show(_ event: TransferProgress.Event) {
        switch event {
        case .json(let text): line.write(text)
        case .retry(let notice, let progress):
            guard tellsRetries else { return }
            // Alone on a terminal it counts down in the line, and stays when the wait is over.
            if isAlone, isLive, !notice.isShort { return line.draw { notice.countdown($0) } }
            line.say("refrain get: \(isAlone ? "" : "\(progress.url): ")\(notice.line)\n")
        }
    }

    // MARK: The line

    private func text(_ columns: Int) -> String? {
        let (underWay, past) = state.withLock { state in
            (state.underWay.sorted { $0.key < $1.key }.map(\.value), state.sum)
        }
        guard isAlone else { return listText(columns, underWay, past) }
        guard let progress = underWay.first else { return nil }
        if let notice = progress.takeEndedNotice(), tellsRetries { line.say("\(notice.past)\n") }
        guard metersBytes || progress.notice != nil, ContinuousClock.now - start >= Self.silence else { return nil }
        return progress.line(columns, rate: rate(progress.received))
    }

    /// Requests that are done within this time are not worth a line.
    private static let silence = Duration.milliseconds(200)

    private func listText(_ columns: Int, _ underWay: [TransferProgress], _ sum: Sum) -> String {
        for progress in underWay { _ = progress.takeEndedNotice() }
        let (total, received) = state.withLock { ($0.total, $0.received) }
        let bytes = received + underWay.reduce(0) { $0 + $1.received }
        return Self.listText(
            columns,
            done: sum.done + sum.failed + sum.skipped,
            of: total,
            failed: sum.failed,
            bytes: metersBytes ? bytes : nil,
            rate: rate(bytes),
            left: left(of: total, sum, underWay),
            underWay.map { ($0.name, $0.share) }
        )
    }

    /// The time that is left if the other requests take as long as those of this run so far; nil: that says little.
    private func left(of total: Int, _ sum: Sum, _ underWay: [TransferProgress]) -> Duration? {
        let ended = Double(sum.done + sum.failed) + underWay.reduce(0) { $0 + $1.fraction }
        let elapsed = ContinuousClock.now - start
        guard knowsTotal, ended >= 1, elapsed >= .seconds(2) else { return nil }
        return .seconds(min(elapsed.inSeconds * (Double(total - sum.skipped) / ended - 1), 1e7))
    }

    /// The line of a list: what is done, the bytes and their rate, the time that is left, and what is under way with
    /// its share.
    static func listText(
        _ columns: Int,
        done: Int,
        of total: Int,
        failed: Int,
        bytes: Int64?,
        rate: Double,
        left: Duration?,
        _ underWay: [(name: String, share: String)]
    ) -> String {
        var text = "\(done)/\(total)" + (columns < 60 ? "" : " done")
        if failed > 0 { text += ", \(failed) failed" }
        if let bytes { text += ", \(SizeText.short(bytes)), \(SizeText.short(Int64(rate)))/s" }
        if let left, left > .zero, columns >= 60 {
            let words = ", \(DurationText.short(left)) left"
            if text.count + words.count < columns { text += words }
        }
        var isFirst = true
        for (name, share) in underWay {
            let room = columns - 1 - text.count - share.count - 3
            // A name that is cut beyond recognition says nothing.
            guard room >= min(name.count, 6) else { break }
            let shown = name.count <= room ? name : "…" + name.suffix(room - 1)
            text += "\(isFirst ? ": " : ", ")\(shown) \(share)"
            isFirst = false
        }
        return text
    }

    /// The bytes per second of the last seconds.
    private func rate(_ bytes: Int64) -> Double {
        state.withLock { state in
            let now = ContinuousClock.now
            state.samples.append((now, bytes))
            state.samples.removeAll { now - $0.time > .seconds(3) }
            let first = state.samples.count > 1 ? state.samples[0] : (start, 0)
            return Double(max(0, bytes - first.1)) / max((now - first.0).inSeconds, 0.05)
        }
    }
}

/// How progress is shown.
enum ProgressKind: Sendable {
    /// A line on a terminal.
    case line
    /// One JSON object per line on standard error.
    case json
    case none

    init(_ arguments: Arguments) throws(UsageError) {
        let isQuiet = arguments.has(.quiet) || arguments.has(.silent) || arguments.has(.noProgressMeter)
        switch arguments.last(.progress) {
        case nil, "auto": self = isQuiet ? .none : .line
        case "json": self = .json
        case "none": self = .none
        case .some(let other): throw .badValue(other, of: "--progress", "is not auto, json or none")
        }
    }
}
