// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainSession
import RefrainTesting
import Testing

@Suite("Lines of a session", .timeLimit(.minutes(10)))
struct LinesTests {
    let mock = MockLoader()

    @Test("each iteration makes a request, and reads its lines")
    func lines() async throws {
        mock.otherwise(.status(200, body: .text("a\nb\r\n\nc")))
        let session = Session(loader: mock)
        let lines = session.lines("https://api.example.com/log", headers: ["X": "y"])
        for _ in 0..<2 {
            var all: [String] = []
            for try await line in lines { all.append(line) }
            #expect(all == ["a", "b", "", "c"])
        }
        #expect(mock.requests.map { $0.headers["X"] } == ["y", "y"])
    }

    @Test("what returns no request to resume starts it, whatever the session's setting is")
    func sessionThatWaits() async throws {
        mock.otherwise(.status(200, body: .text("a")))
        let session = Session.testing(mock) { $0.startsRequestsImmediately = false }
        #expect(try await session.data(from: "https://api.example.com/log").0.count == 1)
        #expect(try await session.data(for: HTTPRequest.sample).0.count == 1)
        for lines in [session.lines("https://api.example.com/log"), session.lines(HTTPRequest.sample)] {
            for try await line in lines { #expect(line == "a") }
        }
        #expect(mock.requests.count == 4)
    }

    @Test("a transient status is retried, and a final one throws")
    func statuses() async throws {
        mock.then(.status(503)).then(.status(200, body: .text("a"))).then(.status(404, body: .text("b")))
        var settings = Session.Settings()
        settings.clocks = TestClock(.autoAdvancing).retryClocks()
        let session = Session(loader: mock, settings: settings)
        let request = HTTPRequest.sample
        var iterator = session.lines(request).makeAsyncIterator()
        #expect(try await iterator.next() == "a")
        var failing = session.lines(request).makeAsyncIterator()
        await #expect(throws: RefrainError.self) { try await failing.next() }
        #expect(mock.requests.count == 3)
    }

    @Test("R9: cancellation throws CancellationError")
    func cancellation() async throws {
        let gate = MockLoader.Gate()
        mock.otherwise(.held(by: gate, .status(200, body: .text("a"))))
        let session = Session(loader: mock)
        let task = Task {
            var iterator = session.lines("https://api.example.com/log").makeAsyncIterator()
            return try await iterator.next()
        }
        await gate.arrivals(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
