// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Event streams that begin with an error, fall silent, or go on elsewhere")
struct ModelStreamTests {
    private let mock = MockLoader()
    private let clock = TestClock(.autoAdvancing)

    private func reply(
        _ chunks: [String],
        status: HTTPStatus = 200,
        breaks: Bool = false,
        gap: Duration = .zero,
        on clock: TestClock? = nil
    ) -> MockLoader.Reply {
        MockLoader.Reply { Self.answer($0, chunks, status: status, breaks: breaks, gap: gap, on: clock) }
    }

    /// Not of an instance, whose mock would hold itself by its replies.
    private static func answer(
        _ request: HTTPRequest,
        _ chunks: [String],
        status: HTTPStatus = 200,
        breaks: Bool,
        gap: Duration = .zero,
        on clock: TestClock? = nil
    ) -> HTTPResult {
        let left = Locked(chunks[...])
        let body = AsyncThrowingStream<[UInt8], any Error> {
            if let clock { try await clock.sleep(until: clock.now.advanced(by: gap)) }
            if let chunk = left.withLock({ $0.popFirst() }) { return Array(chunk.utf8) }
            if breaks { throw HTTPError(.networkConnectionLost, request: request) }
            return nil
        }
        let headers: HTTPHeaders = ["Content-Type": "text/event-stream"]
        return .success(HTTPResponse(request: request, status: status, headers: headers, body: .oneShot(body)))
    }

    private func post(_ change: (inout HTTPRequest) -> Void = { _ in }) throws -> HTTPRequest {
        var request = try HTTPRequest("https://api.example.com/chat", method: .post)
        change(&request)
        return request
    }

    private func read(_ events: HTTPRequest.ServerSentEvents) async -> (data: [String], error: HTTPError?) {
        var data: [String] = []
        do {
            for try await event in events { data.append(event.data) }
        } catch {
            return (data, error as? HTTPError)
        }
        return (data, nil)
    }

    /// Provider, first event, the status that it stands for, and whether a POST is sent again.
    private static let errors: [(ServerProfile, String, Int, Bool)] = [
        (.anthropic, #"event: error\#ndata: {"type":"error","error":{"type":"overloaded_error"}}"#, 529, true),
        (.anthropic, #"event: error\#ndata: {"type":"error","error":{"type":"rate_limit_error"}}"#, 429, true),
        (.anthropic, #"event: error\#ndata: {"type":"error","error":{"type":"api_error"}}"#, 500, false),
        (.anthropic, #"event: error\#ndata: {"type":"error","error":{"type":"billing_error"}}"#, 402, false),
        (.anthropic, #"event: error\#ndata: {"type":"error","error":{"type":"a_new_error"}}"#, 500, false),
        (.openAI, #"data: {"error":{"type":"server_error","code":null}}"#, 500, false),
        (.openAI, #"data: {"error":{"type":"x","code":"rate_limit_exceeded"}}"#, 429, true),
        (.openAI, #"data: {"error":{"type":"x","code":"credit_balance_exhausted"}}"#, 429, false),
        (.openRouter, #"data: {"error":{"code":429,"message":"m"},"choices":[]}"#, 429, true),
        (.openRouter, #"data: {"error":{"code":502,"message":"m"},"choices":[]}"#, 502, false),
        (.gemini, #"data: {"error":{"code":503,"status":"UNAVAILABLE"}}"#, 503, false),
        (.anyModelAPI, #"data: {"error":"overloaded"}"#, 500, false),
        (.anyModelAPI, #"data: {"error":{"code":"429","type":"None","message":"m"}}"#, 429, true),
        (.openAI, #"data: {"error":{"code":"400","type":"None","message":"m"}}"#, 400, false),
        (.openAI, #"data: {"error":{"code":"4 29","message":"m"}}"#, 500, false),
        (.openAI, #"data: {"error":{"code":"200","message":"m"}}"#, 500, false),
    ]

    @Test("R36: the body of a refusal is read before its stream is decided on, also where it arrives in parts")
    func refusalBodies() async throws {
        let quota = [#"{"error":{"code":"insuffic"#, #"ient_quota"}}"#]
        let info = #""@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"53s""#
        let cases: [(ServerProfile, [String], [RetryReason], Int)] = [
            (.openAI, quota, [.quotaSpent], 1),
            (.gemini, [#"{"error":{"code":429,"details":[{"#, info + "}]}}"], [], 2),
        ]
        for (profile, parts, reasons, count) in cases {
            let (mock, clock) = (MockLoader(), TestClock(.autoAdvancing))
            mock.then(reply(parts, status: 429)).then(reply(["data: a\n\n"]))
            let events = mock.events(
                for: try post(),
                retrying: .modelAPI(profile),
                budgets: nil,
                clocks: clock.retryClocks()
            )
            let (data, error) = await read(events)
            #expect(mock.requests.count == count && data == (count == 1 ? [] : ["a"]))
            #expect(error?.attempts.map(\.reason) ?? [] == reasons)
            #expect(count == 1 || clock.sleeps.contains { $0 >= .seconds(53) }, "\(clock.sleeps)")
        }
    }

    @Test("R36: a stream that begins with an error has its status, and is decided on by it", arguments: errors.indices)
    func firstError(index: Int) async throws {
        let (profile, event, status, isRepeated) = Self.errors[index]
        mock.then(reply([": hello\n\n", event + "\n\n"])).then(reply(["data: a\n\n"]))
        let events = mock.events(
            for: try post(),
            retrying: .modelAPI(profile),
            budgets: nil,
            clocks: clock.retryClocks()
        )
        let (data, error) = await read(events)
        #expect(mock.requests.count == (isRepeated ? 2 : 1))
        #expect(data == (isRepeated ? ["a"] : []))
        guard !isRepeated else { return }
        #expect(error?.response?.status.rawValue == status)
        #expect(error?.attempts.map(\.status) == [HTTPStatus(rawValue: status)])
    }

    @Test("R34: the error that a stream begins with holds all requests to the place, where it names its time")
    func firstErrorHolds() async throws {
        let info = #"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"53s"}"#
        mock.then(reply([#"data: {"error":{"code":429,"details":["# + info + "]}}\n\n"])).otherwise(.status(200))
        let loader = Pacer(profile: .gemini, clocks: clock.retryClocks()) --> mock
        let policy = RetryPolicy.modelAPI(.gemini).with(schedule: .immediately(maxAttempts: 1))
        let events = loader.events(for: try post(), retrying: policy, budgets: nil, clocks: clock.retryClocks())
        #expect(await read(events).error?.response?.status == 429)
        #expect(await loader.load(try post()).status == 200 && clock.sleeps == [.seconds(53)])
    }

    @Test("R36: what is no error, or comes later, or has no profile, is an event like any other")
    func noError() async throws {
        let error = #"event: error\#ndata: {"error":{"type":"overloaded_error"}}"#
        let cases: [(RetryPolicy, [String], Int)] = [
            (.recommended, [error], 1), (.modelAPI(.anthropic), ["data: a", error], 2),
            (.modelAPI(.openAI), [#"data: {"error":null,"id":"x"}"#], 1),
            (.modelAPI(.openAI), ["data: [DONE]"], 1), (.modelAPI(.anthropic), ["data: error"], 1),
        ]
        for (policy, texts, count) in cases {
            mock.then(reply(texts.map { $0 + "\n\n" }))
            let events = mock.events(for: try post(), retrying: policy, budgets: nil, clocks: clock.retryClocks())
            let (data, error) = await read(events)
            #expect(data.count == count && error == nil)
        }
        #expect(mock.requests.count == cases.count)
    }

    @Test("R36: endless pings and comments end a stream in time, before its first event and after it")
    func silence() async throws {
        let clock = TestClock()
        let pings = Array(repeating: "event: ping\ndata: {}\n\n: still here\n\n", count: 100)
        for (before, limit) in [([], 20), (["data: a\n\n"], 31)] {
            mock.then(reply(before + pings, gap: .seconds(1), on: clock))
            let request = try post {
                $0.timeouts.idle = nil
                $0.timeouts.firstEvent = .seconds(20)
                $0.timeouts.eventIdle = .seconds(30)
            }
            let policy = RetryPolicy.modelAPI(.anthropic)
            let events = mock.events(for: request, retrying: policy, budgets: nil, clocks: clock.retryClocks())
            let reading = Task { await read(events) }
            for _ in 1...limit {
                // The server and the limit.
                await clock.sleepers(atLeast: 2)
                await clock.advance(by: .seconds(1))
            }
            let (data, error) = await reading.value
            #expect(error?.code == .timedOut, "\(String(describing: error))")
            #expect(data.first == before.first.map { _ in "a" })
        }
        // A POST whose outcome is unknown is not sent again.
        #expect(mock.requests.count == 2)
    }

    @Test("R20: events of a loader that keeps no time end where not even a byte comes", arguments: [15, 25])
    func idleBytes(gap: Int) async throws {
        let clock = TestClock()
        mock.then(reply([": a\n\n", "data: a\n\n"], gap: .seconds(gap), on: clock))
        let request = try post { $0.timeouts.idle = .seconds(20) }
        let events = mock.events(for: request, budgets: nil, clocks: clock.retryClocks())
        let reading = Task { await read(events) }
        for _ in 1...(gap < 20 ? 3 : 1) {
            // The server and the limit.
            await clock.sleepers(atLeast: 2)
            await clock.advance(by: .seconds(min(gap, 20)))
        }
        let (data, error) = await reading.value
        #expect(data == (gap < 20 ? ["a"] : []) && error?.code == (gap < 20 ? nil : .timedOut))
    }

    @Test("R36: connections that bring no event in time are attempts of one call, however long they were open")
    func silentAttempts() async throws {
        let clock = TestClock()
        mock.otherwise(reply(Array(repeating: ": alive\n\n", count: 100), gap: .seconds(10), on: clock))
        var request = try HTTPRequest("https://api.example.com/events")
        request.timeouts.idle = nil
        request.timeouts.firstEvent = .seconds(45)
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 3))
        let events = mock.events(for: request, retrying: policy, budgets: nil, clocks: clock.retryClocks())
        let reading = Task { await read(events) }
        for _ in 1...15 {
            // The server and the limit.
            await clock.sleepers(atLeast: 2)
            await clock.advance(by: .seconds(9))
        }
        let (data, error) = await reading.value
        #expect(data.isEmpty && error?.attempts.map(\.error) == [.timedOut, .timedOut, .timedOut])
        #expect(mock.requests.count == 3)
    }

    @Test("R36: the presets give up after five minutes without an event; a request and no profile say otherwise")
    func idleDefaults() async throws {
        for (policy, limit, isCut) in [
            (RetryPolicy.modelAPI(.openAI), nil, true), (.modelAPI(.openAI), Duration.seconds(400), false),
            (.recommended, nil, false), (.recommended, .seconds(299), true),
        ] as [(RetryPolicy, Duration?, Bool)] {
            let clock = TestClock()
            mock.then(reply(["data: a\n\n"], gap: .seconds(301), on: clock))
            let request = try post {
                $0.timeouts.idle = nil
                if let limit { $0.timeouts.eventIdle = limit }
            }
            let events = mock.events(for: request, retrying: policy, budgets: nil, clocks: clock.retryClocks())
            let reading = Task { await read(events) }
            await clock.sleepers(atLeast: limit == nil && policy.profile == nil ? 1 : 2)
            await clock.advance(by: .seconds(300))
            if !isCut { await clock.advance(by: .seconds(1)) }
            if !isCut {
                // The end of the body comes as late.
                await clock.sleepers(atLeast: limit == nil ? 1 : 2)
                await clock.advance(by: .seconds(301))
            }
            let (data, error) = await reading.value
            #expect((error?.code == .timedOut) == isCut && data.count == (isCut ? 0 : 1))
        }
        var limits = Timeout.Limits.standard
        #expect(limits.firstEvent == nil && limits.eventIdle == nil && limits.eventIdle(orElse: .seconds(1)) != nil)
        limits.eventIdle = nil
        #expect(limits.eventIdle(orElse: .seconds(1)) == nil)
    }

    @Test("R36: cut anywhere, a stream goes on by the caller's hook: no event twice, none lost, one POST")
    func resumes() async throws {
        let numbers = Array(1...6)
        @Sendable func text(after last: Int) -> String {
            numbers.filter { $0 > last }.map { "id: \($0)\nevent: part\ndata: {\"n\":\($0)}\n\n" }.joined()
                + "data: [DONE]\n\n"
        }
        let all = numbers.map { "{\"n\":\($0)}" } + ["[DONE]"]
        let first = text(after: 0)
        // After the first event, which a POST cannot go on before.
        let begin = "id: 1\nevent: part\ndata: {\"n\":1}\n\n".utf8.count
        for cut in begin..<first.utf8.count {
            for second in [7, 29] {
                let mock = MockLoader()
                mock.otherwise(
                    MockLoader.Reply { request in
                        let last = request.url.absoluteString.split(separator: "after=").last.flatMap { Int($0) } ?? 0
                        let text = String(text(after: last).utf8.prefix(request.method == .post ? cut : second + cut))!
                        let isWhole = text.hasSuffix("[DONE]\n\n")
                        return Self.answer(request, [text], breaks: !isWhole)
                    }
                )
                let events = mock.events(for: try post(), budgets: nil, clocks: clock.retryClocks()) { last in
                    try? HTTPRequest("https://api.example.com/chat/7?after=\(last.lastEventID)")
                }
                let (data, error) = await read(events)
                #expect(data == all && error == nil, "cut at \(cut): \(data) \(error.map { "\($0)" } ?? "-")")
                #expect(mock.requests.count { $0.method == .post } == 1)
            }
        }
    }

    @Test("R36: without a request for the rest the stream fails with what came, and says how much")
    func noRest() async throws {
        for hook in [nil, { _ in nil }] as [(@Sendable (HTTPBody.ServerSentEvent) -> HTTPRequest?)?] {
            mock.then(reply(["data: a\n\n", "data: b\n\n"], breaks: true))
            let events = mock.events(for: try post(), budgets: nil, clocks: clock.retryClocks(), resume: hook)
            let (data, error) = await read(events)
            #expect(data == ["a", "b"] && error?.attempts.map(\.reason) == [.notReplayable])
        }
        #expect(mock.requests.count == 2)
    }

    /// What comes, and whether it is the whole of an answer.
    private static let ends: [(text: String, isWhole: Bool)] = [
        ("data: a\n\n", true), ("data: a\n\n: bye\n\n: b", true), ("data: a\n\n\n", true),
        ("data: a\n\ndata: [DONE]", true), ("data: a\n\ndata:[DONE]\n", true),
        ("data: a\n\nd", false), ("data: a\n\ndata: {\"n\":", false), ("data: a\n\ndata: b\n", false),
        ("data: a\n\nevent: x\n", false), ("data: a\n\nid: 7", false), ("data: a\n\ndata: [DO", false),
        ("event: message_start\ndata: a\n\n", false),
        ("event: message_start\ndata: a\n\nevent: message_delta\ndata: b\n\n", false),
        ("event: message_start\ndata: a\n\nevent: message_stop\ndata: {}\n\n", true),
        ("event: message_start\ndata: a\n\nevent: error\ndata: {}\n\n", true),
        ("event: response.created\ndata: a\n\n", false),
        ("event: response.created\ndata: a\n\nevent: response.failed\ndata: {}\n\n", true),
    ]

    @Test(
        "R10, R36: an answer that ends within an event, or before its last one, was cut short",
        arguments: ends.indices
    )
    func cutShort(index: Int) async throws {
        let (text, isWhole) = Self.ends[index]
        for cut in [text.utf8.count, text.utf8.count / 2] {
            let mock = MockLoader()
            let parts = [
                String(decoding: text.utf8.prefix(cut), as: UTF8.self),
                String(decoding: text.utf8.dropFirst(cut), as: UTF8.self),
            ]
            mock.then(reply(parts))
            let events = mock.events(
                for: try post(),
                retrying: .modelAPI(.anyModelAPI),
                budgets: nil,
                clocks: clock.retryClocks()
            )
            let (data, error) = await read(events)
            #expect(data.first == "a" && mock.requests.count == 1)
            #expect(error?.code == (isWhole ? nil : .networkConnectionLost), "\(data) \(error.map { "\($0)" } ?? "")")
        }
    }

    @Test("R36: an answer cut short before its first event has failed, and its hook goes on after others")
    func cutShortAndResumed() async throws {
        for (text, expected) in [("data: {\"n\"", []), ("data: a\n\ndata: {\"n\"", ["a", "b"])] as [(String, [String])]
        {
            let mock = MockLoader().then(reply([text])).otherwise(reply(["data: b\n\n"]))
            let events = mock.events(for: try post(), budgets: nil, clocks: clock.retryClocks()) { _ in
                try? HTTPRequest("https://api.example.com/7")
            }
            let (data, error) = await read(events)
            #expect(data == expected && (error?.code == .networkConnectionLost) == expected.isEmpty)
            #expect(mock.requests.count == max(1, expected.count))
        }
    }

    @Test("R5: a stream that goes on by the same request keeps its key, and by another one has another")
    func keyOfTheRest() async throws {
        for isSame in [true, false] {
            let mock = MockLoader()
            for part in ["a", "b"] { mock.then(reply(["data: \(part)\n\n"], breaks: true)) }
            mock.otherwise(reply(["data: c\n\n"]))
            let request = try post { $0.idempotencyKey = .generated }
            let events = mock.events(for: request, budgets: nil, clocks: clock.retryClocks()) { last in
                var rest = request
                if !isSame { rest.body = .text(last.data) }
                return rest
            }
            let (data, error) = await read(events)
            #expect(data == ["a", "b", "c"] && error == nil)
            let keys = Set(mock.requests.map { $0.headers["Idempotency-Key"] })
            #expect(keys.count == (isSame ? 1 : 3) && !keys.contains(nil))
        }
    }

    @Test("R36: the identifier that the hook's request sets is sent, and else that of the stream")
    func identifierOfTheRest() async throws {
        for (initial, own, sent) in [(nil, "n7", "n7"), ("3", "n7", "n7"), ("3", "3", "9"), (nil, nil, "9")] {
            let mock = MockLoader().then(reply(["id: 9\ndata: a\n\n"], breaks: true))
                .then(reply(["data: b\n\n"], breaks: true)).otherwise(reply(["data: c\n\n"]))
            let request = try post { $0.headers["Last-Event-ID"] = initial }
            let events = mock.events(for: request, budgets: nil, clocks: clock.retryClocks()) { last in
                guard last.data == "a" else { return nil }
                var rest = try? HTTPRequest("https://api.example.com/7")
                rest?.headers["Last-Event-ID"] = own
                return rest
            }
            #expect(await read(events).data == ["a", "b", "c"])
            #expect(mock.requests.map { $0.headers["Last-Event-ID"] } == [initial, sent, sent])
        }
    }

    @Test("R2: the hook's request that must not be sent twice is sent once", arguments: [true, false])
    func forbiddenRest(breaks: Bool) async throws {
        mock.then(reply(["data: a\n\n"], breaks: true))
            .then(breaks ? reply(["data: b\n\n"], breaks: true) : .status(503)).otherwise(.status(204))
        let request = try post { $0.replay = .forbidden }
        let events = mock.events(for: request, budgets: nil, clocks: clock.retryClocks()) { last in
            guard last.data == "a" else { return nil }
            var rest = request
            (rest.method, rest.url) = (.get, request.url.appending(path: "7"))
            return rest
        }
        let (data, error) = await read(events)
        #expect(data == (breaks ? ["a", "b"] : ["a"]))
        #expect(error?.attempts.last?.reason == .replayForbidden)
        #expect(mock.requests.map(\.method) == [.post, .get] && mock.requests[1].replay == .forbidden)
    }

    @Test("R36: the hook's request is a new one, also a POST without a key; the same one is not sent twice")
    func restByPOST() async throws {
        for isSame in [true, false] {
            let mock = MockLoader().then(reply(["data: a\n\n"], breaks: true)).otherwise(reply(["data: b\n\n"]))
            let request = try post { $0.body = .text("begin") }
            let events = mock.events(for: request, budgets: nil, clocks: clock.retryClocks()) { last in
                var rest = request
                if !isSame { rest.body = .text("begin " + last.data) }
                return rest
            }
            let (data, error) = await read(events)
            #expect(data == (isSame ? ["a"] : ["a", "b"]))
            #expect(error?.attempts.map(\.reason) == (isSame ? [.notReplayable] : nil))
            #expect(mock.requests.count == data.count)
        }
    }
}
