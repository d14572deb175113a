// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// What is said of an attempt that failed and is followed by another one.
struct RetryNotice: Sendable {
    /// Why the attempt failed.
    let cause: Cause
    /// The number of the next attempt.
    let attempt: Int
    /// How many attempts there are at most; nil: their number is not limited.
    let maxAttempts: Int?
    /// When the next attempt begins.
    let date: WallClock.Instant
    /// The time until then.
    let delay: Duration
    /// When the next attempt begins, on the clock that delays are measured by.
    let instant: ContinuousClock.Instant
    /// When no further attempt begins; nil: only their number is limited.
    let end: WallClock.Instant?

    /// The reason of a retry, in words.
    struct Cause: Sendable {
        let short: String
        let long: String

        init(_ record: AttemptRecord) {
            if let status = record.status, record.error == nil {
                short = "\(status.rawValue)"
                let phrase = ResponseHead.reason(of: status)
                let words = phrase.isEmpty ? short : "\(short) \(phrase)"
                long = record.reason == .conditionNotMet ? "\(words), not the awaited response" : words
            } else {
                short = record.error.map(FailureWords.text) ?? "no outcome"
                long = short
            }
        }
    }

    /// The limits of a request's attempts.
    struct Limits: Sendable {
        let maxAttempts: Int?
        /// How long attempts may fail.
        let window: Duration?
        /// The time for the whole request.
        let timeout: Duration?

        init(_ policy: CommandPolicy, timeout: Duration?) {
            maxAttempts = policy.policy.schedule.maxAttempts
            window = policy.window
            self.timeout = timeout
        }
    }

    /// - Parameters:
    ///   - record: the attempt that failed.
    ///   - limits: what ends the attempts.
    ///   - start: when the request began.
    ///   - failingSince: when its first attempt of those that failed in a row ended.
    init(
        _ record: AttemptRecord,
        _ limits: Limits,
        start: ContinuousClock.Instant,
        failingSince: ContinuousClock.Instant,
        now: ContinuousClock.Instant = .now,
        date: WallClock.Instant = .now
    ) {
        cause = Cause(record)
        attempt = record.number + 1
        maxAttempts = limits.maxAttempts
        delay = record.delay
        let next = now + record.delay
        instant = next
        self.date = date.advanced(by: delay)
        let ends = [limits.window.map { failingSince + $0 }, limits.timeout.map { start + $0 }].compactMap(\.self)
        end = ends.min().flatMap { $0 >= next ? date.advanced(by: now.duration(to: $0)) : nil }
    }

    /// Whether the wait is too short to be counted down.
    var isShort: Bool { delay <= .milliseconds(300) }

    private var number: String {
        // A resumption that has brought new bytes is not counted, so there can be more.
        guard let maxAttempts, attempt <= maxAttempts else { return "attempt \(attempt)" }
        return "attempt \(attempt) of \(maxAttempts)"
    }
    private var limit: String { end.map { "; gives up after \(DateText.localTime($0))" } ?? "" }

    /// The notice when the attempt has failed, on one line.
    var line: String {
        let time = "at \(DateText.localTime(date)), in \(DurationText.short(delay))"
        return "\(cause.long); \(number) \(delay < .milliseconds(1) ? "now" : time)\(limit)"
    }

    /// The notice when the wait is over.
    var past: String { "\(cause.long); \(number) at \(DateText.localTime(date))\(limit)" }

    /// The notice during the wait, in the most words that fit.
    func countdown(_ columns: Int, now: ContinuousClock.Instant = .now) -> String {
        let rest = max(.zero, now.duration(to: instant))
        let wait = rest < .seconds(100) ? "\(Decimals.text(rest.inSeconds, places: 1)) s" : DurationText.short(rest)
        let forms = [
            "\(cause.long); \(number) at \(DateText.localTime(date)), in \(wait)\(limit)",
            "\(cause.long); \(number) in \(wait)\(limit)",
            "\(cause.long); \(number) in \(wait)",
        ]
        return forms.first { $0.count < columns } ?? "\(cause.short); \(number) in \(wait)"
    }
}
