// SPDX-License-Identifier: Apache-2.0
#if Logging
import InMemoryLogging
import Logging
import RefrainLogging
import RefrainTesting
import Testing

@Suite("Logging")
struct LogCallsTests {
    let mock = MockLoader()
    let clock = TestClock(.autoAdvancing)
    let handler = InMemoryLogHandler()

    private var logger: Logger {
        var logger = Logger(label: "test") { [handler] _ in handler }
        logger.logLevel = .trace
        return logger
    }

    /// The metadata as text: numbers are kept as they are, and not as text.
    private func texts(of entry: InMemoryLogHandler.Entry) -> [String: String] {
        entry.metadata.mapValues { "\($0)" }
    }

    private func chain() -> some HTTPLoader {
        let policy = RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(2), maxAttempts: 3))
        let retry = Retry(policy, budgets: nil, clocks: clock.retryClocks())
        return LogCalls(to: logger, clocks: clock.retryClocks()) --> retry --> mock
    }

    @Test("each retry and the end have a line, by OpenTelemetry's names, without secrets")
    func lines() async throws {
        mock.then(.status(503)).then(.failure(.timedOut)).then(.status(200))
        _ = await chain().load(try HTTPRequest("https://user:word@api.example.com/a?token=secret&x=1"))
        let entries = handler.entries
        #expect(entries.map(\.level) == [.notice, .notice, .debug])
        let first = texts(of: try #require(entries.first))
        #expect(first["http.request.method"] == "GET")
        #expect(first["server.address"] == "api.example.com")
        #expect(first["server.port"] == "443")
        #expect(first["url.full"] == "https://api.example.com/a?token=***&x=1")
        #expect(first["http.response.status_code"] == "503")
        #expect(first["error.type"] == "503")
        #expect(first["refrain.reason"] == "transientStatus")
        #expect(first["refrain.delay_ms"] == "2000")
        #expect(first["http.request.resend_count"] == nil)
        #expect(texts(of: entries[1])["error.type"] == "timedOut")
        #expect(texts(of: entries[1])["http.request.resend_count"] == "1")
        let last = texts(of: try #require(entries.last))
        #expect(last["http.response.status_code"] == "200")
        #expect(last["error.type"] == nil)
        #expect(last["refrain.reason"] == "succeeded")
        #expect(last["refrain.attempts"] == "3")
        #expect(last["refrain.duration_ms"] == "4000")
    }

    @Test("a failure is logged as an error with the reason why there was no further attempt")
    func failure() async throws {
        mock.otherwise(.failure(.timedOut))
        let result = await chain().load(try HTTPRequest("https://api.example.com/"))
        #expect(throws: HTTPError.self) { try result.get() }
        let last = try #require(handler.entries.last)
        #expect(last.level == .error)
        #expect(texts(of: last)["error.type"] == "timedOut")
        #expect(texts(of: last)["refrain.reason"] == "attemptsUsedUp")
    }

    @Test("the request's own observer is still called")
    func observer() async throws {
        mock.then(.status(503)).then(.status(200))
        let seen = Box(0)
        var request = try HTTPRequest("https://api.example.com/")
        request.attemptObserver = { _ in seen.withLock { $0 += 1 } }
        _ = await chain().load(request)
        #expect(seen.withLock { $0 } == 2)
    }

    @Test("a session's requests are logged as an event monitor")
    func session() async throws {
        mock.then(.status(503)).then(.status(200))
        var settings = Session.Settings()
        settings.clocks = clock.retryClocks()
        settings.budgets = nil
        let session = Session(loader: mock, eventMonitors: [LogCalls(to: logger)], settings: settings)
        _ = await session.request("https://api.example.com/").serializingResponse().response
        #expect(handler.entries.map(\.level) == [.notice, .debug])
        #expect(handler.entries.last.map(texts)?["refrain.attempts"] == "2")
    }

    @Test("withRetry logs each retry, and the type of the error only")
    func loop() async throws {
        struct Secret: Error { var password = "x" }
        await #expect(throws: Secret.self) {
            try await withRetry(
                .constant(delay: .seconds(1)).limited(maxAttempts: 3),
                clock: clock,
                onRetry: logRetries(of: "load", to: logger)
            ) { throw Secret() }
        }
        #expect(handler.entries.map { texts(of: $0)["refrain.attempt"] } == ["1", "2"])
        #expect(handler.entries.first.map(texts)?["error.type"] == "Secret")
    }
}
#endif
