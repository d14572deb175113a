// SPDX-License-Identifier: Apache-2.0
/// What the answers of one kind of server mean, beyond HTTP: values only, for ``RetryPolicy/modelAPI(_:)``.
///
/// ```swift
/// var mine = ServerProfile.openAI
/// mine.name = "my gateway"
/// mine.finalCodes.insert("tenant_suspended")
/// let loader = Retry(.modelAPI(mine)) --> PlatformLoader()
/// ```
public struct ServerProfile: Hashable, Sendable {
    /// The name, for people.
    public var name: String
    /// Statuses by which the server refuses a request before it processes it, besides those of rule R2.
    ///
    /// Any request may be sent again after them.
    public var refusals: Set<HTTPStatus>
    /// Fields that say `true` or `false` to whether a request is worth repeating; the first one that a response has.
    ///
    /// `false` ends the call, `true` allows another attempt, within attempts, deadline and budget.
    public var retryHints: [String]
    /// The limits in the header fields of answers.
    public var families: [RateLimitFields.Family] {
        get { fields.families }
        set { fields.families = newValue }
    }
    /// How the fields of all limits are read.
    var fields = RateLimitFields()
    /// Error codes in the body of a refusal that no wait helps against, such as a limit of spending.
    public var finalCodes: Set<String>
    /// Whether a refusal's body has the time to come back at, as a `google.rpc.RetryInfo`.
    public var readsRetryInfo: Bool
    /// The statuses that error codes stand for where a stream behind a 200 begins with an error.
    ///
    /// A code that is not among them counts as 500. Defaults to none: such an event is one like any other.
    public var streamErrors: [String: HTTPStatus] = [:]
    /// The types of events that only say that a stream is alive.
    ///
    /// They do not count for ``Timeout/Limits/firstEvent`` and ``Timeout/Limits/eventIdle``. Defaults to none.
    public var pings: Set<String> = []
    /// How long a stream may do without an event, unless a request says it by ``Timeout/Limits/eventIdle``.
    ///
    /// Defaults to nil: no limit. The presets have five minutes, since tools and long thoughts are silent for minutes.
    public var eventIdle: Duration?

    /// Describes a kind of server; by default its answers mean what HTTP says.
    public init(
        name: String,
        refusals: Set<HTTPStatus> = [],
        retryHints: [String] = [],
        families: [RateLimitFields.Family] = [],
        finalCodes: Set<String> = [],
        readsRetryInfo: Bool = false
    ) {
        self.name = name
        self.refusals = refusals
        self.retryHints = retryHints
        fields.families = families
        self.finalCodes = finalCodes
        self.readsRetryInfo = readsRetryInfo
    }

    /// Whether something is read in the body of a refusal.
    var readsBody: Bool { readsRetryInfo || !finalCodes.isEmpty }

    /// Whether a response has a body that is still to be read before a decision: it may name a time to come back at, or
    /// say that no wait helps.
    package func mustRead(_ response: HTTPResponse) -> Bool {
        guard readsBody, response.body.dataInMemory == nil else { return false }
        return Classification.isTransient(response.status, hasRetryAfter: true) || refusals.contains(response.status)
    }
}

// MARK: - Presets: what the vendors document, or their SDKs do

extension ServerProfile {
    private typealias Family = RateLimitFields.Family

    private static func xRateLimits(_ unit: RateLimitFields.Reset) -> [RateLimitFields.Family] {
        [(Family.Kind.requests, "requests"), (.cost, "tokens"), (.cost, "project-tokens")].map { kind, name in
            let names = ["limit", "remaining", "reset"].map { "x-ratelimit-\($0)-\(name)" }
            return Family(kind, limit: names[0], remaining: names[1], reset: names[2], unit: unit)
        }
    }

    /// A further limit of Mistral's.
    private static let sizeByMinute = Family(
        .cost,
        limit: "x-ratelimitbysize-limit-minute",
        remaining: "x-ratelimitbysize-remaining-minute",
        reset: "ratelimitbysize-reset",
        unit: .delay(.seconds)
    )

    /// Codes of a limit of money or of an approved amount.
    private static let spending: Set<String> = [
        "insufficient_quota", "credit_balance_exhausted", "organization_spend_limit_exceeded",
        "project_spend_limit_exceeded", "organization_usage_limit_exceeded", "billing_hard_limit_reached",
    ]

    /// The errors of OpenAI's streams, and of APIs like it.
    private static let openAIErrors: [String: HTTPStatus] = [
        "invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "insufficient_quota": 429,
        "rate_limit_exceeded": 429, "slow_down": 429, "server_error": 500, "server_is_overloaded": 503,
    ].merging(spending.map { ($0, 429) }) { $1 }

    private static let anthropicErrors: [String: HTTPStatus] = [
        "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
        "not_found_error": 404, "conflict_error": 409, "request_too_large": 413, "rate_limit_error": 429,
        "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
    ]

    /// The canonical codes of Google's APIs.
    private static let googleErrors: [String: HTTPStatus] = [
        "INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403,
        "NOT_FOUND": 404, "RESOURCE_EXHAUSTED": 429, "INTERNAL": 500, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
    ]

    /// The events of which one ends an answer, by the type of the event that it begins with.
    ///
    /// Those of Anthropic's messages, which gateways have as well, and of OpenAI's responses.
    static let answerEnds: [String: Set<String>] = [
        "message_start": ["message_stop"],
        "response.created": ["response.completed", "response.failed", "response.incomplete"],
    ]

    /// This profile for streams of events as well.
    private func streaming(errors: [String: HTTPStatus], pings: Set<String> = []) -> ServerProfile {
        var profile = self
        (profile.streamErrors, profile.pings, profile.eventIdle) = (errors, pings, .seconds(300))
        return profile
    }

    /// OpenAI.
    public static let openAI = ServerProfile(
        name: "OpenAI",
        refusals: [409],
        retryHints: ["x-should-retry"],
        families: xRateLimits(.goDuration),
        finalCodes: spending
    ).streaming(errors: openAIErrors)

    /// Azure OpenAI: resets are whole seconds, and `-1` and a reset of `0` say nothing.
    public static let azureOpenAI = ServerProfile(
        name: "Azure OpenAI",
        refusals: [409],
        retryHints: ["x-should-retry"],
        families: xRateLimits(.delay(.seconds)),
        finalCodes: spending
    ).streaming(errors: openAIErrors)

    /// Anthropic: 529 is overload of the service, and resets are moments.
    public static let anthropic = ServerProfile(
        name: "Anthropic",
        refusals: [529],
        retryHints: ["x-should-retry"],
        families: ["requests", "tokens", "input-tokens", "output-tokens"].map { name in
            let names = ["limit", "remaining", "reset"].map { "anthropic-ratelimit-\(name)-\($0)" }
            let kind = name == "requests" ? Family.Kind.requests : .cost
            return Family(kind, limit: names[0], remaining: names[1], reset: names[2], unit: .timestamp)
        },
        finalCodes: ["enforced_spend_limit_reached", "billing_error"]
    ).streaming(errors: anthropicErrors, pings: ["ping"])

    /// Gemini: it has no fields, and a `google.rpc.RetryInfo` in the body of a 429.
    public static let gemini = ServerProfile(name: "Gemini", readsRetryInfo: true)
        .streaming(errors: googleErrors)

    /// Groq: the fields of OpenAI, requests by the day.
    public static let groq = ServerProfile(name: "Groq", families: xRateLimits(.goDuration), finalCodes: spending)
        .streaming(errors: openAIErrors)

    /// Mistral.
    public static let mistral = ServerProfile(
        name: "Mistral",
        families: xRateLimits(.delay(.seconds)) + [sizeByMinute]
    ).streaming(errors: openAIErrors)

    /// OpenRouter: its `X-RateLimit` fields have epochs in milliseconds, which are recognized without a setting.
    public static let openRouter = ServerProfile(name: "OpenRouter", finalCodes: spending)
        .streaming(errors: openAIErrors)

    /// The Hugging Face Hub: its `RateLimit` fields are the standard's.
    public static let huggingFace = ServerProfile(name: "Hugging Face")

    /// Stripe.
    public static let stripe = ServerProfile(name: "Stripe", retryHints: ["stripe-should-retry"])

    /// Any model API: all of the presets together, for a gateway in front of several of them.
    public static let anyModelAPI = ServerProfile(
        name: "any model API",
        refusals: [409, 529],
        retryHints: ["x-should-retry"],
        families: xRateLimits(.goDuration) + anthropic.families + [sizeByMinute],
        finalCodes: spending.union(anthropic.finalCodes),
        readsRetryInfo: true
    ).streaming(
        errors: openAIErrors.merging(anthropicErrors) { $1 }.merging(googleErrors) { $1 },
        pings: anthropic.pings
    )
}

extension RetryPolicy {
    /// The recommended policy for a server whose answers mean more than HTTP says (rules R2, R7 and R19).
    ///
    /// Where the profile reads bodies, up to 64 KiB of the body of a refusal are read before a decision, for at most a
    /// second, and that is the body of the response. This also applies to requests for a stream.
    ///
    /// - Parameter profile: what they mean. Defaults to ``ServerProfile/anyModelAPI``.
    public static func modelAPI(_ profile: ServerProfile = .anyModelAPI) -> RetryPolicy {
        var policy = RetryPolicy.recommended
        policy.profile = profile
        return policy
    }
}

extension RetryStrategy where Self == RetryPolicy {
    /// The recommended policy for a server whose answers mean more than HTTP says.
    public static func modelAPI(_ profile: ServerProfile) -> RetryPolicy { RetryPolicy.modelAPI(profile) }
}
