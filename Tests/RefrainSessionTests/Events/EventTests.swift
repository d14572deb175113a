// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import TestSupport
import Testing

@Suite("Event monitors", .timeLimit(.minutes(10)))
struct EventTests {
    /// Writes down the names of events.
    final class Recorder: EventMonitor {
        let events = Journal<String>()
        func requestDidCreate(_ request: Request) { events.append("created") }
        func requestDidResume(_ request: Request) { events.append("resumed") }
        func requestDidSuspend(_ request: Request) { events.append("suspended") }
        func requestDidCancel(_ request: Request) { events.append("cancelled") }
        func request(_ request: Request, didAdapt initial: HTTPRequest, to adapted: HTTPRequest) {
            events.append("adapted")
        }
        func request(_ request: Request, didFailToAdapt initial: HTTPRequest, error: RefrainError) {
            events.append("not adapted")
        }
        func request(_ request: Request, didStartAttempt number: Int, with sent: HTTPRequest) {
            events.append("started \(number)")
        }
        func request(_ request: Request, didFinishAttempt number: Int, with result: HTTPResult, after: Duration) {
            events.append("ended \(number)")
        }
        func request(_ request: Request, didValidate response: HTTPResponse, error: RefrainError?) {
            events.append(error == nil ? "valid" : "invalid")
        }
        func request(_ request: Request, willRetryAfter delay: Duration, reason: RetryReason) {
            events.append("retry after \(delay) \(reason)")
        }
        func request(_ request: Request, didGiveUp reason: RetryReason) { events.append("gave up \(reason)") }
        func requestDidFinish(_ request: Request) { events.append("finished") }
    }

    private struct Silent: EventMonitor {}

    @Test("A: EventMonitor: every event of a request is told, in order, to each monitor")
    func order() async {
        let (one, two) = (Recorder(), Recorder())
        let interceptor = CountingInterceptor(.retryWithDelay(.seconds(2)), .doNotRetry)
        let session = Session.testing(
            ScriptedLoader(.status(503), .status(404)),
            interceptor: interceptor,
            monitors: [one, Silent(), two]
        )
        _ = await session.request(HTTPRequest.sample).validate().serializingData().response
        let expected = [
            "created", "resumed", "adapted", "started 1", "ended 1", "invalid",
            "retry after 2.0 seconds strategyRetried", "adapted", "started 2", "ended 2", "invalid",
            "gave up validationFailed", "finished",
        ]
        #expect(one.events.entries.filter { !$0.hasPrefix("gave up") } == expected.filter { !$0.hasPrefix("gave up") })
        #expect(one.events.entries.contains { $0.hasPrefix("gave up") })
        #expect(two.events.entries == one.events.entries)
    }

    @Test("A: EventMonitor: a failed adapter, a hold and a cancellation are told")
    func others() async {
        let recorder = Recorder()
        let session = Session.testing(
            ScriptedLoader(.status(200)),
            interceptor: CountingInterceptor(failAdapts: [1]),
            monitors: [recorder]
        )
        _ = await session.request(HTTPRequest.sample).serializingData().response
        #expect(recorder.events.entries.contains("not adapted"))
        let held = session.request(HTTPRequest.sample)
        held.suspend()
        held.cancel()
        #expect(recorder.events.entries.suffix(4) == ["created", "suspended", "cancelled", "finished"])
    }

    @Test("A: EventMonitor: a log is one line for each event, and shows no secrets")
    func log() async {
        let lines = Journal<String>()
        let monitor = LogMonitor(
            redaction: LogMonitor.Redaction(headers: ["X-Api-Key"], queryParameters: ["token"]),
            showsHeaders: true
        ) { lines.append($0) }
        let loader = ScriptedLoader(
            .status(503, headers: ["Set-Cookie": "id=s3cret", "X-Note": "shown", "Link": "<https://u:s3cret@h/>"]),
            .failure(.networkConnectionLost)
        )
        let session = Session.testing(
            loader,
            interceptor: CountingInterceptor(.retry, .doNotRetry),
            monitors: [monitor]
        )
        var request = HTTPRequest("/a?token=s3cret&page=2")
        request.headers["Authorization"] = "Bearer s3cret"
        request.headers["x-api-key"] = "s3cret"
        request.headers["X-Signed"] = "s3cret"
        request.secretHeaders = ["X-Signed"]
        _ = await session.request(request).validate().serializingData().response
        let text = lines.entries.joined(separator: "\n")
        #expect(!text.contains("s3cret"))
        #expect(text.contains("token=***&page=2"))
        #expect(text.contains("X-Note: shown"))
        #expect(text.contains("again after 0 ms"))
        #expect(lines.entries.allSatisfy { !$0.contains { $0.isNewline } })
        #expect(lines.entries.last?.contains("failed: networkConnectionLost after 2 attempts") == true)
    }

    @Test("a log hides the values of a query by default, and nothing that a server sends can forge a line of it")
    func logByDefault() async {
        let lines = Journal<String>()
        let note = "a\u{1B}]0;title\u{7}\u{202E}b\u{85}\u{2028}c"
        let session = Session.testing(
            ScriptedLoader(.status(200, headers: ["X-Note": note, "X-Session": "s3cret"])),
            monitors: [LogMonitor(showsHeaders: true) { lines.append($0) }]
        )
        _ = await session.request(HTTPRequest("/a?name=ada&%74oken=s3cret&x")).serializingData().response
        let text = lines.entries.joined(separator: "\n")
        #expect(text.contains("?name=***&%74oken=***&x"))
        #expect(!text.contains("s3cret") && !text.contains("ada"))
        #expect(lines.entries.allSatisfy { !$0.unicodeScalars.contains(where: PrintableText.isControl) })
        #expect(text.contains("X-Note: a?]0;title??b??c"))
    }

    @Test("A: EventMonitor: metrics count by host, status and reason, as a snapshot and as Prometheus text")
    func metrics() async {
        let metrics = MetricsMonitor()
        let session = Session.testing(
            ScriptedLoader(.status(503), .failure(.timedOut), .status(200, body: "ok")),
            interceptor: CountingInterceptor(.retry),
            monitors: [metrics]
        )
        _ = await session.request(HTTPRequest.sample).serializingData().response
        session.request(HTTPRequest.sample).cancel()
        let snapshot = metrics.snapshot
        #expect(snapshot.requestsCreated == 2)
        #expect(snapshot.requestsSucceeded == 1)
        #expect(snapshot.requestsCancelled == 1)
        #expect(snapshot.requestsActive == 0)
        #expect(snapshot.attempts.values.reduce(0, +) == 3)
        #expect(snapshot.retries[.init(host: "host.test", reason: .strategyRetried)] == 2)
        #expect(snapshot.durations["host.test"]?.count == 3)
        let text = snapshot.prometheusText
        #expect(text.contains("refrain_attempts_total{host=\"host.test\",outcome=\"503\"} 1\n"))
        #expect(text.contains("refrain_attempts_total{host=\"host.test\",outcome=\"timedOut\"} 1\n"))
        #expect(text.contains("refrain_attempt_duration_seconds_bucket{host=\"host.test\",le=\"+Inf\"} 3\n"))
        #expect(text.contains("# TYPE refrain_attempt_duration_seconds histogram\n"))
        #expect(text.hasSuffix("\n"))
    }

    @Test("A: EventMonitor: a log hides the fields that PrintLoader hides")
    func hiddenFields() async {
        let lines = Journal<String>()
        let secrets = HTTPHeaders(PrintLoader.secretFields.sorted().map { ($0, "s3cret") })
        let loader = ScriptedLoader(.compute { .success(HTTPResponse(request: $0, status: 200, headers: secrets)) })
        let session = Session.testing(loader, monitors: [LogMonitor(showsHeaders: true) { lines.append($0) }])
        var request = HTTPRequest.sample
        request.headers = secrets
        _ = await session.request(request).serializingData().response
        #expect(lines.entries.contains { $0.contains("X-API-Key: ***") })
        #expect(!lines.entries.joined().contains("s3cret"))
    }

    @Test("A: EventMonitor: no text ends a label of Prometheus, also where a quote and what follows are one character")
    func labels() {
        var snapshot = MetricsMonitor().snapshot
        let reason = RetryReason(rawValue: "a\"\u{301}} 1\nb\\\u{301}c\r\nd")
        snapshot.retries[MetricsMonitor.Snapshot.ReasonKey(host: "host.test", reason: reason)] = 1
        let line = #"refrain_retries_total{host="host.test",reason="a\""# + "\u{301}} 1" + #"\nb\\"# + "\u{301}c"
        let lines = snapshot.prometheusText.split(separator: "\n").filter { $0.hasPrefix("refrain_retries_total{") }
        #expect(lines.map { Array($0.utf8) } == [Array((line + #"\nd"} 1"#).utf8)])
    }
}
