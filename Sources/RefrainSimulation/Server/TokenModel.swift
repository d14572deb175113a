internal import RefrainHTTP

/// A server that allows a number of requests per second, and answers the others with 429.
final class TokenModel: ServerModel {
    private let context: ServerContext
    private let answers: DelayedAnswers
    private let rate: Double
    private let burst: Double
    private let latency: Double
    private let hints: Storm.Server.RateLimitHints
    private var tokens: Double
    private var updated: Double = 0

    init(
        _ context: ServerContext,
        rate: Double,
        burst: Double,
        latency: Double,
        hints: Storm.Server.RateLimitHints
    ) {
        self.context = context
        self.rate = rate
        self.burst = burst
        self.latency = latency
        self.hints = hints
        tokens = burst
        answers = DelayedAnswers(context)
    }

    func arrive(_ id: ExchangeID) {
        let now = context.seconds
        tokens = min(burst, tokens + (now - updated) * rate)
        updated = now
        if tokens >= 1 {
            tokens -= 1
            return answers.answer(id, after: latency * context.slowness(), with: .status(200))
        }
        // Fields count in whole seconds.
        let wait = max(1, Int(((1 - tokens) / rate).rounded(.up)))
        var headers = HTTPHeaders()
        switch hints {
        case .none: break
        case .retryAfter: headers.add("Retry-After", "\(wait)")
        case .rateLimit:
            headers.add("RateLimit-Policy", "\"default\";q=\(max(1, Int(burst)));w=1")
            headers.add("RateLimit", "\"default\";r=0;t=\(wait)")
        }
        answers.answer(id, after: 0.005, with: .status(429, headers: headers))
    }

    func leave(_ id: ExchangeID) {}
    func handle(_ value: Int, serial: UInt32) {}
}
