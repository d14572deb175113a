// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("What a model API's answer says")
struct ServerProfileTests {
    /// What is expected of a POST without a key: the end with this reason, or a retry after at least this time.
    enum Expected: Equatable, Sendable {
        case ends(RetryReason)
        case retries(atLeast: Duration, atMost: Duration)
        case tooLong(Duration)
    }

    struct Answer: Sendable {
        var profile: ServerProfile
        var status: HTTPStatus
        var fields: [String: String] = [:]
        var body = ""
        var expected: Expected
    }

    /// The responses' own date is 2025-08-21T12:40:00Z.
    private static let now = WallClock.Instant(sinceEpoch: .seconds(1_755_780_000))
    private static let schedule = Expected.retries(atLeast: .zero, atMost: .milliseconds(500))

    private static func exactly(_ delay: Duration) -> Expected { .retries(atLeast: delay, atMost: delay) }

    private static func retryInfo(_ delay: String) -> String {
        #"""
        {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[
        {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"x-PerDay"}]},
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"\#(delay)"}]}}
        """#
    }

    private static let answers: [Answer] = [
        // OpenAI
        Answer(profile: .openAI, status: 429, expected: schedule),
        Answer(profile: .openAI, status: 429, fields: ["Retry-After": "3"], expected: exactly(.seconds(3))),
        Answer(
            profile: .openAI,
            status: 429,
            fields: ["Retry-After": "3", "retry-after-ms": "2600"],
            expected: exactly(.milliseconds(2600))
        ),
        Answer(
            profile: .openAI,
            status: 429,
            fields: ["x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "3s"],
            expected: exactly(.seconds(3))
        ),
        Answer(
            profile: .openAI,
            status: 429,
            fields: [
                "x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "6m0s",
            ],
            expected: exactly(.seconds(6))
        ),
        Answer(
            profile: .openAI,
            status: 429,
            fields: ["x-ratelimit-remaining-requests": "7", "x-ratelimit-reset-requests": "6m0s"],
            expected: schedule
        ),
        Answer(
            profile: .openAI,
            status: 429,
            body:
                #"{"error":{"type":"insufficient_quota","code":"credit_balance_exhausted","message":"m","param":null}}"#,
            expected: .ends(.quotaSpent)
        ),
        Answer(
            profile: .openAI,
            status: 429,
            fields: ["Retry-After": "1", "x-should-retry": "true"],
            body: #"{"error":{"code":"insufficient_quota"}}"#,
            expected: .ends(.quotaSpent)
        ),
        Answer(
            profile: .openAI,
            status: 429,
            body: #"{"error":{"type":"requests","code":"rate_limit_exceeded"}}"#,
            expected: schedule
        ),
        Answer(profile: .openAI, status: 429, fields: ["x-should-retry": "false"], expected: .ends(.declinedByServer)),
        Answer(profile: .openAI, status: 500, fields: ["x-should-retry": "true"], expected: schedule),
        Answer(profile: .openAI, status: 500, fields: ["x-should-retry": "TRUE"], expected: .ends(.notReplayable)),
        Answer(profile: .openAI, status: 500, expected: .ends(.notReplayable)),
        Answer(profile: .openAI, status: 503, expected: .ends(.notReplayable)),
        Answer(profile: .openAI, status: 503, fields: ["Retry-After": "2"], expected: exactly(.seconds(2))),
        Answer(profile: .openAI, status: 409, expected: schedule),
        Answer(profile: .openAI, status: 400, expected: .ends(.finalStatus)),
        Answer(profile: .openAI, status: 400, fields: ["x-should-retry": "true"], expected: schedule),
        // Azure OpenAI
        Answer(
            profile: .azureOpenAI,
            status: 429,
            fields: [
                "x-ratelimit-limit-requests": "-1", "x-ratelimit-remaining-requests": "-1",
                "x-ratelimit-reset-requests": "0",
            ],
            expected: schedule
        ),
        Answer(
            profile: .azureOpenAI,
            status: 429,
            fields: ["x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "9"],
            expected: exactly(.seconds(9))
        ),
        Answer(
            profile: .azureOpenAI,
            status: 429,
            fields: ["x-ms-retry-after-ms": "1500"],
            expected: exactly(.milliseconds(1500))
        ),
        // Anthropic
        Answer(profile: .anthropic, status: 529, expected: schedule),
        Answer(profile: .anthropic, status: 529, fields: ["Retry-After": "4"], expected: exactly(.seconds(4))),
        Answer(profile: .anthropic, status: 409, expected: .ends(.finalStatus)),
        Answer(
            profile: .anthropic,
            status: 429,
            fields: [
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2025-08-21T12:40:08Z",
            ],
            expected: exactly(.seconds(8))
        ),
        Answer(
            profile: .anthropic,
            status: 429,
            fields: [
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2025-08-21T14:40:08.25+02:00",
            ],
            expected: exactly(.milliseconds(8250))
        ),
        Answer(
            profile: .anthropic,
            status: 429,
            fields: [
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2025-08-21T12:39:59Z",
            ],
            expected: schedule
        ),
        Answer(
            profile: .anthropic,
            status: 429,
            body:
                #"{"type":"error","error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
            expected: .ends(.quotaSpent)
        ),
        Answer(
            profile: .anthropic,
            status: 413,
            body: #"{"type":"error","error":{"type":"request_too_large"}}"#,
            expected: .ends(.finalStatus)
        ),
        // Gemini
        Answer(profile: .gemini, status: 429, body: retryInfo("53s"), expected: exactly(.seconds(53))),
        Answer(profile: .gemini, status: 429, body: "[\(retryInfo("53s"))]", expected: exactly(.seconds(53))),
        Answer(
            profile: .gemini,
            status: 429,
            body: retryInfo("57.238747106s"),
            expected: exactly(.seconds(57) + .nanoseconds(238_747_106))
        ),
        Answer(profile: .gemini, status: 429, body: retryInfo("7200s"), expected: .tooLong(.seconds(7200))),
        Answer(
            profile: .gemini,
            status: 429,
            fields: ["Retry-After": "2"],
            body: retryInfo("53s"),
            expected: exactly(.seconds(2))
        ),
        Answer(profile: .gemini, status: 429, body: retryInfo("-5s"), expected: schedule),
        Answer(profile: .gemini, status: 429, body: retryInfo("soon"), expected: schedule),
        Answer(profile: .gemini, status: 429, body: "{\"error\":", expected: schedule),
        Answer(profile: .gemini, status: 429, body: String(repeating: "[", count: 60_000), expected: schedule),
        Answer(
            profile: .gemini,
            status: 429,
            body: retryInfo(String(repeating: "9", count: 70_000) + "s"),
            expected: schedule
        ),
        // Groq, Mistral, OpenRouter, Hugging Face, Stripe
        Answer(
            profile: .groq,
            status: 429,
            fields: ["x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "7.66s"],
            expected: exactly(.milliseconds(7660))
        ),
        Answer(
            profile: .mistral,
            status: 429,
            fields: ["x-ratelimitbysize-remaining-minute": "0", "ratelimitbysize-reset": "5"],
            expected: exactly(.seconds(5))
        ),
        Answer(
            profile: .openRouter,
            status: 429,
            fields: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1755780004000"],
            expected: exactly(.seconds(4))
        ),
        Answer(profile: .openRouter, status: 402, expected: .ends(.finalStatus)),
        Answer(
            profile: .huggingFace,
            status: 429,
            fields: ["RateLimit": "\"api\";r=0;t=55"],
            expected: exactly(.seconds(55))
        ),
        Answer(profile: .stripe, status: 409, fields: ["Stripe-Should-Retry": "true"], expected: schedule),
        Answer(
            profile: .stripe,
            status: 503,
            fields: ["Stripe-Should-Retry": "false"],
            expected: .ends(.declinedByServer)
        ),
    ]

    @Test("R2, R7, R19: provider × status × fields: whether a POST is sent again, and when", arguments: answers.indices)
    func table(index: Int) throws { try check(Self.answers[index]) }

    private func check(_ answer: Answer) throws {
        var headers = HTTPHeaders(answer.fields.map { ($0.key, $0.value) })
        headers["Date"] = "Thu, 21 Aug 2025 12:40:00 GMT"
        let request = try HTTPRequest("https://api.example/v1", method: .post)
        let response = HTTPResponse(request: request, status: answer.status, headers: headers, body: .text(answer.body))
        let context = RetryContext(request, .success(response), attempt: .first, remaining: nil, now: Self.now)
        let decision = RetryPolicy.modelAPI(answer.profile).decide(in: context)
        let name = "\(answer.profile.name) \(answer.status) \(answer.fields) \(answer.body.prefix(80))"
        switch (answer.expected, decision.action) {
        case (.ends(let reason), .finish): #expect(decision.reason == reason, "\(name)")
        case (.retries(let low, let high), .retry(let delay)):
            #expect((delay.server ?? delay.schedule.lowerBound) == low, "\(name): \(delay)")
            #expect((delay.server ?? delay.schedule.upperBound) == high, "\(name): \(delay)")
        case (.tooLong(let delay), .retryAfterTooLong(let date)):
            #expect(date == Self.now.advanced(by: delay), "\(name)")
        default: Issue.record("\(name): \(decision.action), \(decision.reason)")
        }
    }

    @Test("R19: the profile for any model API reads the times of all presets", arguments: answers.indices)
    func anyModelAPI(index: Int) throws {
        var answer = Self.answers[index]
        guard case .retries(let time, let same) = answer.expected, time == same else { return }
        answer.profile = .anyModelAPI
        try check(answer)
    }

    @Test("R2: what the caller forbids stays forbidden, whatever a profile or a server says")
    func forbidden() throws {
        var request = try HTTPRequest("https://api.example/v1", method: .post)
        request.replay = .forbidden
        for status: HTTPStatus in [429, 500, 529] {
            let response = HTTPResponse(request: request, status: status, headers: ["x-should-retry": "true"])
            let context = RetryContext(request, .success(response), attempt: .first, remaining: nil, now: Self.now)
            #expect(RetryPolicy.modelAPI(.anthropic).decide(in: context).reason == .replayForbidden)
        }
    }

    @Test("R19: no garbage in any field of a profile counts, or traps")
    func garbage() throws {
        let garbage = [
            "", " ", "-1", "1e9", "NaN", "6m-1s", "99999999999999999999h", "1.2.3s", "12", "2025-13-45T99:99:99Z",
            "2025-08-21T12:40:59", "0x10", "\u{7f}", "3s,4s", String(repeating: "9", count: 5000) + "s", "h", ".s",
            "1h1",
        ]
        let request = try HTTPRequest("https://api.example/v1", method: .post)
        for family in ServerProfile.anyModelAPI.families + ServerProfile.mistral.families {
            for text in garbage {
                let headers: HTTPHeaders = [family.remaining: "0", family.limit: text, family.reset: text]
                let response = HTTPResponse(request: request, status: 429, headers: headers)
                let context = RetryContext(request, .success(response), attempt: .first, remaining: nil, now: Self.now)
                var policy = RetryPolicy.modelAPI(.anyModelAPI)
                policy.rateLimitFields.families = [family]
                let decision = policy.decide(in: context)
                // A bare number is seconds where the family says so; a huge duration ends with its date.
                let isTime = text == "12" || (text.hasSuffix("h") && family.unit == .goDuration)
                if case .retry(let delay) = decision.action, !isTime {
                    #expect(delay.server == nil, "\(family.reset): \(text.prefix(40))")
                }
            }
        }
    }

    @Test("R6: the number of the attempt is sent where it is asked for, and is no more than one field")
    func attemptNumber() async throws {
        let mock = MockLoader().otherwise(.status(503))
        let stage = Retry(RetryPolicy.recommended.with(schedule: .immediately()), budgets: nil)
        var request = try HTTPRequest("https://api.example/v1")
        _ = await (stage --> mock).load(request)
        #expect(mock.requests.allSatisfy { $0.headers["x-retry-count"] == nil })
        request.sendsAttemptNumber = "x-retry-count"
        _ = await (stage --> mock).load(request)
        #expect(mock.requests.suffix(3).map { $0.headers[values: "x-retry-count"] } == [["1"], ["2"], ["3"]])
    }

    @Test(
        "R7: the body of a refusal is read before it is decided on, also where it arrives in parts",
        arguments: [false, true]
    )
    func bodies(streams: Bool) async throws {
        let mock = MockLoader()
        mock.then { request in
            let (chunks, source) = AsyncStream.makeStream(of: [UInt8].self)
            for part in [#"{"error":{"code":"insuffic"#, #"ient_quota"}}"#] { source.yield(Array(part.utf8)) }
            source.finish()
            return .success(HTTPResponse(request: request, status: 429, body: .oneShot(chunks)))
        }
        mock.otherwise(.status(200))
        let stage = Retry(RetryPolicy.modelAPI(.openAI), budgets: nil)
        var request = try HTTPRequest("https://api.example/v1", method: .post)
        request.streamsResponse = streams
        let response = try await (stage --> mock).response(for: request)
        #expect(mock.requests.count == 1 && response.attempts.map(\.reason) == [.quotaSpent])
        #expect(try await String(decoding: response.body.collect(), as: UTF8.self).hasSuffix(#"ient_quota"}}"#))
    }

    @Test(
        "R28: a refusal whose body is cut short is decided on by its head, and is not a success",
        arguments: [false, true]
    )
    func brokenBodies(streams: Bool) async throws {
        for attempts in [1, 3] {
            let mock = MockLoader().then { request in
                let chunks = AsyncThrowingStream<[UInt8], any Error> { chunks in
                    chunks.yield([1])
                    chunks.finish(throwing: HTTPError(.networkConnectionLost, request: request))
                }
                return .success(HTTPResponse(request: request, status: 429, body: .oneShot(chunks)))
            }
            mock.otherwise(.status(200))
            let policy = RetryPolicy.modelAPI(.openAI).with(schedule: .immediately(maxAttempts: attempts))
            var request = try HTTPRequest("https://api.example/v1", method: .post)
            request.streamsResponse = streams
            let result = await (Retry(policy, budgets: nil) --> mock).load(request)
            #expect(mock.requests.count == min(attempts, 2))
            guard attempts == 1 else {
                #expect(try result.get().status == 200)
                continue
            }
            let error = await #expect(throws: HTTPError.self) { try await result.get().body.collect() }
            #expect(error?.code == .networkConnectionLost && error?.attempts.first?.status == 429)
        }
    }
}
