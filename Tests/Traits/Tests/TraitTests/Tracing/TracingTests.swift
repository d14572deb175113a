// SPDX-License-Identifier: Apache-2.0
#if Tracing
import InMemoryTracing
import RefrainTesting
import RefrainTracing
import Testing
import Tracing

@Suite("Tracing")
struct TracingTests {
    let mock = MockLoader()
    let clock = TestClock(.autoAdvancing)
    let tracer = InMemoryTracer()

    private func chain() -> some HTTPLoader {
        let policy = RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(2), maxAttempts: 3))
        let retry = Retry(policy, budgets: nil, clocks: clock.retryClocks())
        return TraceCalls(tracer: tracer) --> retry --> TraceAttempts(tracer: tracer) --> mock
    }

    @Test("a call has a span, each attempt has one below it, and each is sent with its own context")
    func spans() async throws {
        mock.then(.status(503)).then(.failure(.timedOut)).then(.status(200))
        _ = await chain().load(try HTTPRequest("https://user:word@api.example.com/a?token=secret"))
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["GET", "GET", "GET", "GET call"])
        #expect(spans.map(\.kind) == [.client, .client, .client, .internal])
        let call = try #require(spans.last)
        #expect(spans.dropLast().allSatisfy { $0.parentSpanID == call.spanID && $0.traceID == call.traceID })
        let resends = spans.dropLast().map { $0.attributes.get("http.request.resend_count") }
        #expect(resends == [nil, .int64(1), .int64(2)])
        let first = try #require(spans.first)
        #expect(first.attributes.get("http.request.method") == .string("GET"))
        #expect(first.attributes.get("server.address") == .string("api.example.com"))
        #expect(first.attributes.get("server.port") == .int64(443))
        #expect(first.attributes.get("url.full") == .string("https://api.example.com/a?token=***"))
        #expect(first.attributes.get("http.response.status_code") == .int64(503))
        #expect(first.attributes.get("error.type") == .string("503"))
        #expect(first.status?.code == .error)
        #expect(spans[1].attributes.get("error.type") == .string("timedOut"))
        #expect(call.attributes.get("http.response.status_code") == .int64(200))
        #expect(call.status == nil)
        #expect(call.events.map(\.name) == ["retry", "retry"])
        let sent = mock.requests.map { $0.headers[values: InMemoryTracer.spanIDKey] }
        #expect(sent == spans.dropLast().map { [$0.spanID] })
    }

    @Test("in the loader of a session an attempt is a child of the span that was current, and knows its number")
    func session() async throws {
        mock.then(.status(503)).then(.status(200))
        var settings = Session.Settings()
        settings.clocks = clock.retryClocks()
        settings.budgets = nil
        let session = Session(loader: TraceAttempts(tracer: tracer) --> mock, settings: settings)
        await tracer.withSpan("work") { _ in
            _ = await session.request("https://api.example.com/").serializingResponse().response
        }
        let spans = tracer.finishedSpans
        let work = try #require(spans.last)
        #expect(spans.count == 3)
        #expect(spans.dropLast().allSatisfy { $0.parentSpanID == work.spanID })
        #expect(spans[1].attributes.get("http.request.resend_count") == .int64(1))
    }

    @Test("withTracedRetry has a span for the call and one for each attempt, in whose context the attempt runs")
    func loop() async throws {
        struct Broken: Error {}
        let parents = Box<[String?]>([])
        let value = try await withTracedRetry(
            "load",
            .constant(delay: .seconds(1)).limited(maxAttempts: 3),
            clock: clock,
            tracer: tracer
        ) { attempt in
            parents.withLock { $0.append(ServiceContext.current?.inMemorySpanContext?.spanID) }
            if attempt.number < 2 { throw Broken() }
            return attempt.number
        }
        #expect(value == 2)
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["load", "load", "load"])
        #expect(spans.dropLast().map { $0.attributes.get("refrain.attempt") } == [.int64(1), .int64(2)])
        #expect(spans.first?.attributes.get("error.type") == .string("Broken"))
        #expect(spans.last?.events.map(\.name) == ["retry"])
        #expect(parents.withLock { $0 } == spans.dropLast().map(\.spanID))
    }
}
#endif
