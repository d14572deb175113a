// SPDX-License-Identifier: Apache-2.0
/// The quota of a model API: limits of requests and of tokens in a window, and the fields of its answers.
///
/// As vendors do, a limit per minute is enforced in short spans: a twentieth at a time, and any one request. A value;
/// its owner has the lock and the clock, in seconds.
package struct ModelQuota: Sendable {
    /// Units that come back evenly, up to what a twentieth of the window brings.
    private struct Bucket {
        let name: String
        let limit: Double
        let perSecond: Double
        private(set) var left: Double
        private(set) var taken = 0.0

        init(_ name: String, limit: Double, window: Double) {
            (self.name, self.limit, perSecond) = (name, limit, limit / window)
            left = limit / 20
        }

        mutating func refill(for amount: Double, _ seconds: Double) {
            // The first request finds what it needs.
            guard taken > 0 else { return left = max(limit / 20, amount) }
            left = min(max(limit / 20, amount, left), left + seconds * perSecond)
        }

        mutating func take(_ amount: Double) {
            left -= amount
            taken += amount
        }

        var fields: [(String, String)] {
            let untilFull = max(0, (limit / 20 - left) / perSecond)
            return [
                ("x-ratelimit-limit-\(name)", String(Int(limit))),
                ("x-ratelimit-remaining-\(name)", String(Int(max(0, left)))),
                ("x-ratelimit-reset-\(name)", "\(Int((untilFull * 1000).rounded(.up)))ms"),
            ]
        }
    }

    private var requests: Bucket?
    private var tokens: Bucket?
    private let start: Double
    private var time: Double

    /// Makes a quota of which nothing is used.
    ///
    /// - Parameters:
    ///   - requests: the requests in each window; nil: no limit. Both limits are from 1 to 2^53.
    ///   - tokens: the tokens in each window, likewise.
    ///   - window: its length in seconds.
    ///   - now: the time, in seconds.
    package init(requests: Double?, tokens: Double?, window: Double, now: Double) {
        self.requests = requests.map { Bucket("requests", limit: $0, window: window) }
        self.tokens = tokens.map { Bucket("tokens", limit: $0, window: window) }
        (start, time) = (now, now)
    }

    /// Takes a request and its tokens, or nothing.
    ///
    /// - Returns: whether they were taken, and the fields of the answer.
    package mutating func take(tokens amount: Double, now: Double) -> (isTaken: Bool, fields: [(String, String)]) {
        requests?.refill(for: 1, now - time)
        tokens?.refill(for: amount, now - time)
        time = now
        func wait(_ bucket: Bucket?, _ amount: Double) -> Double {
            bucket.map { max(0, amount - $0.left) / $0.perSecond } ?? 0
        }
        let wait = max(wait(requests, 1), wait(tokens, amount))
        if wait == 0 {
            requests?.take(1)
            tokens?.take(amount)
        }
        let fields = [requests, tokens].flatMap { $0?.fields ?? [] }
        guard wait > 0 else { return (true, fields) }
        let milliseconds = Int((min(wait, 1e9) * 1000).rounded(.up))
        let retry = [("retry-after-ms", "\(milliseconds)"), ("Retry-After", "\((milliseconds + 999) / 1000)")]
        return (false, fields + retry)
    }

    /// The share of the limit that is used more, of all that it has allowed up to a time.
    package func used(at now: Double) -> Double {
        [requests, tokens].compactMap(\.self)
            .map { $0.taken / ($0.limit / 20 + (now - start) * $0.perSecond) }.max() ?? 0
    }
}
