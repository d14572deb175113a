// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

@Suite("On the wire: event monitors", .timeLimit(.minutes(10)))
struct EventWireTests {
    private let server: FaultServer

    init() throws {
        server = try FaultServer()
        server.answer("/down-once", 503, 200)
    }

    @Test("A: EventMonitor: each event of a retried request is told, in order, to each monitor of the session")
    func order() async {
        let (one, two) = (EventTests.Recorder(), EventTests.Recorder())
        let session = Session.overSockets(
            CountingInterceptor(.retryWithDelay(.seconds(2))),
            monitors: [one, CompositeEventMonitor(monitors: [two])]
        )
        _ = await session.request(server.baseURL + "/down-once").validate().serializingData().response
        let expected = [
            "created", "resumed", "adapted", "started 1", "ended 1", "invalid",
            "retry after 2.0 seconds strategyRetried", "adapted", "started 2", "ended 2", "valid", "finished",
        ]
        #expect(one.events.entries == expected)
        #expect(two.events.entries == expected)
    }

    @Test("A: EventMonitor: a hook that is not written does nothing, and the others are told")
    func defaults() async {
        final class Finishes: EventMonitor {
            let count = Counter()
            func requestDidFinish(_ request: Request) { count.increment() }
        }
        struct Silent: EventMonitor {}
        let finishes = Finishes()
        let session = Session.overSockets(RetryPolicy.recommended, monitors: [Silent(), finishes])
        _ = await session.request(server.baseURL + "/down-once").validate().serializingData().response
        session.request(server.baseURL + "/ok").suspend().cancel()
        #expect(finishes.count.value == 2)
    }

    @Test("A: EventMonitor: giving up is told with its reason, and a cancellation as one")
    func endings() async {
        let recorder = EventTests.Recorder()
        let session = Session.overSockets(RetryPolicy.recommended, monitors: [recorder])
        server.answer("/down", 503)
        _ = await session.request(server.baseURL + "/down").validate().serializingData().response
        #expect(recorder.events.entries.suffix(2) == ["gave up attemptsUsedUp", "finished"])
        let hanging = session.request(server.baseURL + "/hang")
        let task = hanging.serializingData()
        await server.requests(atLeast: 1, toPath: "/hang")
        hanging.cancel()
        _ = await task.response
        #expect(recorder.events.entries.contains("cancelled"))
        #expect(recorder.events.entries.last == "finished")
    }

    @Test("A: EventMonitor: the log has a line for each event, and no secret of the request or of the answer")
    func log() async throws {
        server.on("/secrets") { request in
            let status = request.occurrence == 1 ? 503 : 200
            return [.respond(.init(status, headers: [("Set-Cookie", "id=s3cret"), ("X-Note", "shown")], body: "ok"))]
        }
        let (lines, events) = (Journal<String>(), EventTests.Recorder())
        let redaction = LogMonitor.Redaction(headers: ["X-Api-Key"], queryParameters: ["token"])
        let log = LogMonitor(redaction: redaction, showsHeaders: true) { lines.append($0) }
        let session = Session.overSockets(RetryPolicy.recommended, monitors: [log, events])
        let url = server.baseURL.replacing("http://", with: "http://ada:s3cret@") + "/secrets?token=s3cret&page=2"
        let headers: HTTPHeaders = [
            "Authorization": "Bearer s3cret", "Cookie": "id=s3cret", "X-Api-Key": "s3cret", "X-Plain": "plain",
        ]
        _ = await session.request(url, headers: headers).validate().serializingString().response
        let text = lines.entries.joined(separator: "\n")
        #expect(!text.contains("s3cret"), "\(text)")
        #expect(text.contains("/secrets?token=***&page=2"))
        #expect(text.contains("X-Plain: plain") && text.contains("X-Note: shown"))
        #expect(text.contains("Authorization: ***") && text.contains("Set-Cookie: ***"))
        #expect(lines.entries.count == events.events.entries.count)
        #expect(lines.entries.allSatisfy { line in !line.contains { $0.isNewline } })
        // It left the secrets where they belong: on the wire.
        #expect(server.requests(toPath: "/secrets").allSatisfy { $0.header("X-Api-Key") == "s3cret" })
    }

    @Test("A: EventMonitor: metrics count what the server counted, and their text is Prometheus's")
    func metrics() async throws {
        let metrics = MetricsMonitor()
        let session = Session.overSockets(RetryPolicy.recommended, monitors: [metrics])
        server.answer("/gone", 404)
        for path in ["/down-once", "/ok", "/gone"] {
            _ = await session.request(server.baseURL + path).validate().serializingData().response
        }
        let snapshot = metrics.snapshot
        #expect(snapshot.attempts.values.reduce(0, +) == server.log.count)
        #expect(snapshot.requestsSucceeded == 2)
        #expect(snapshot.requestsFailed == 1)
        #expect(snapshot.requestsActive == 0)
        #expect(snapshot.retries == [.init(host: "127.0.0.1", reason: .transientStatus): 1])
        #expect(snapshot.givenUp == [.init(host: "127.0.0.1", reason: .finalStatus): 1])

        let text = snapshot.prometheusText
        #expect(text.contains("refrain_requests_total{outcome=\"succeeded\"} 2\n"))
        #expect(text.contains("refrain_attempts_total{host=\"127.0.0.1\",outcome=\"200\"} 2\n"))
        #expect(text.contains("refrain_attempts_total{host=\"127.0.0.1\",outcome=\"503\"} 1\n"))
        #expect(text.contains("refrain_retries_total{host=\"127.0.0.1\",reason=\"transientStatus\"} 1\n"))
        #expect(text.contains("refrain_attempt_duration_seconds_count{host=\"127.0.0.1\"} 4\n"))
        try Self.checkExposition(text)
    }

    /// Holds a text against the exposition format: a family is announced once, before its samples; buckets never fall
    /// and end with all.
    private static func checkExposition(_ text: String) throws {
        #expect(text.hasSuffix("\n") && !text.contains("\n\n"))
        var announced: [String] = []
        var buckets: [Int] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("# TYPE ") {
                #expect(!announced.contains(String(words[2])))
                announced.append(String(words[2]))
                continue
            }
            guard !line.hasPrefix("#") else { continue }
            #expect(line.contains(/^[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+$/), "\(line)")
            let family = try #require(announced.last)
            #expect(line.hasPrefix(family), "\(line)")
            if line.contains("_bucket{") { buckets.append(try #require(Int(words[words.count - 1]))) }
        }
        #expect(!buckets.isEmpty && buckets == buckets.sorted())
    }
}
