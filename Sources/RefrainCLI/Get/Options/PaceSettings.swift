// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The limits that requests keep, and what each request costs: `--pace`, `--profile`, `--cost-field` and
/// `--cost-estimate`.
struct PaceSettings: Sendable {
    private let limits: Pacer.Limits
    /// What the answers of the server mean; nil: what HTTP says.
    let profile: ServerProfile?
    /// What an answer says that it cost; nil: nothing.
    private let usage: CostText?
    /// What a request is expected to cost; nil: as much as the answers so far, on average.
    private let estimate: CostText?
    private let seen = Locked(Costs())

    /// The costs of the requests so far.
    private struct Costs {
        /// Those that responses named.
        var sum = 0.0
        var count = 0.0
        /// Whether one was estimated, and whether one was not.
        var isEstimated = false
        var isUnknown = false
    }

    init(_ arguments: Arguments) throws(UsageError) {
        limits =
            try arguments.last(.pace).map { text throws(UsageError) in
                try PaceText.parse(text, option: "--pace")
            } ?? .none
        profile = try arguments.last(.profile).map { text throws(UsageError) in
            guard let name = ProfileName(rawValue: text) else {
                let known = ProfileName.allCases.map(\.rawValue).joined(separator: ", ")
                throw .badValue(text, of: "--profile", "is not known; the profiles are \(known)")
            }
            return name.profile
        }
        usage = try arguments.last(.costField).map { text throws(UsageError) in
            try CostText(text, option: "--cost-field")
        }
        estimate = try arguments.last(.costEstimate).map { text throws(UsageError) in
            try CostText(text, option: "--cost-estimate")
        }
        guard limits.cost == nil || usage != nil || estimate != nil else {
            throw UsageError("--pace limits the cost, so --cost-field or --cost-estimate must say what a request costs")
        }
        guard limits.cost != nil || estimate == nil else {
            throw UsageError("--cost-estimate needs a limit of the cost: --pace 200000t/m")
        }
    }

    /// Whether requests keep to given limits.
    var isGiven: Bool { limits != .none }
    /// Whether the body of an answer says what the request cost, so that it must be read first.
    var readsBodies: Bool { usage != nil }

    /// The stage that keeps the limits, and holds requests where the server says until when.
    ///
    /// - Parameters:
    ///   - quota: where other runs keep the limits together with this one; nil: they are its own.
    ///   - maximumConcurrency: how many requests are under way to one server at most, fewer after refusals without a
    ///     time; nil: no limit.
    func pacer(_ quota: (any QuotaStore)?, maximumConcurrency: Int?) -> Pacer {
        Pacer(
            limits,
            profile: profile,
            maximumConcurrency: maximumConcurrency,
            usage: { cost(of: $0) },
            quota: quota
        )
    }

    /// How many requests are under way or wait for their turn: about those of a minute.
    var places: Int {
        guard let requests = limits.requests else { return 64 }
        return min(64, max(8, Int(min(requests * 60 / limits.interval.inSeconds, 64))))
    }

    /// The limits in words; nil: none were given.
    var words: String? {
        guard isGiven else { return nil }
        let limits = [
            limits.requests.map { "\(Decimals.text($0, places: 0)) requests" },
            limits.cost.map { "a cost of \(Decimals.text($0, places: 0))" },
        ]
        return limits.compactMap(\.self).joined(separator: " and ") + " in \(DurationText.plain(self.limits.interval))"
    }

    /// What an answer says that it cost.
    func cost(of response: HTTPResponse) -> Double? {
        guard let usage, response.status.isSuccess, let bytes = response.body.bytesInMemory else { return nil }
        return usage.value(in: bytes)
    }

    /// Counts what an answer has cost.
    func note(_ cost: Double) {
        seen.withLock {
            $0.sum += cost
            $0.count += 1
        }
    }

    /// A warning that the cost of no request was known, so that it was not limited; nil: there is none.
    var remark: String? {
        guard limits.cost != nil, seen.withLock({ $0.isUnknown && !$0.isEstimated && $0.count == 0 }) else {
            return nil
        }
        let places = [
            estimate.map { _ in "no request has what --cost-estimate names" },
            usage.map { _ in "no response has what --cost-field names" },
        ]
        return places.compactMap(\.self).joined(separator: ", and ") + ", so the limit of the cost had no effect"
    }

    /// Sets what a request is expected to cost, and how long it may wait for its turn.
    func prepare(_ request: inout HTTPRequest) {
        guard isGiven else { return }
        if limits.cost != nil {
            let estimated = estimate?.value(in: request.body.bytesInMemory ?? [])
            request.cost = seen.withLock { costs in
                if estimated == nil { costs.isUnknown = true } else { costs.isEstimated = true }
                return estimated ?? (costs.count > 0 ? costs.sum / costs.count : 0)
            }
        }
        // All that wait pass in turn; a slow pace takes longer than a server may ask for.
        let shares = [limits.requests.map { 1 / $0 }, limits.cost.map { request.cost / $0 }].compactMap(\.self)
        let wait = limits.interval * ((shares.max() ?? 0) * Double(4 * places))
        if request.retryAfterPolicy.isHonoured, wait > request.retryAfterPolicy.cap {
            request.retryAfterPolicy = .honoured(upTo: wait)
        }
    }
}

/// The profiles that `--profile` takes.
enum ProfileName: String, CaseIterable {
    case any
    case anthropic
    case azureOpenAI = "azure-openai"
    case gemini
    case groq
    case huggingFace = "huggingface"
    case mistral
    case openAI = "openai"
    case openRouter = "openrouter"
    case stripe

    /// What the answers of such a server mean.
    var profile: ServerProfile {
        switch self {
        case .any: .anyModelAPI
        case .anthropic: .anthropic
        case .azureOpenAI: .azureOpenAI
        case .gemini: .gemini
        case .groq: .groq
        case .huggingFace: .huggingFace
        case .mistral: .mistral
        case .openAI: .openAI
        case .openRouter: .openRouter
        case .stripe: .stripe
        }
    }
}
