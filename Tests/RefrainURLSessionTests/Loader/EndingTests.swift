// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import RefrainTesting
import Testing

@testable import RefrainURLSession

@Suite("URLSessionLoader: limits, cancellation and reset", .serialized, .timeLimit(.minutes(10)))
struct EndingTests {
    let server: FaultServer
    let loader = URLSessionLoader()

    init() throws { server = try FaultServer() }

    private func request(_ path: String) throws -> HTTPRequest { try HTTPRequest(server.baseURL + path) }

    @Test("R20: each limit ends an attempt with a timeout that says which one it was")
    func limits() async throws {
        let cases: [(String, Timeout.Limits, String)] = [
            ("/hang", Timeout.Limits(connect: nil, firstByte: nil, idle: nil, total: .milliseconds(50)), "total"),
            ("/hang", Timeout.Limits(connect: nil, firstByte: .milliseconds(50), idle: nil, total: nil), "head"),
            ("/hang", Timeout.Limits(connect: nil, firstByte: nil, idle: .milliseconds(50), total: nil), "nothing"),
            (
                "/hang-body", Timeout.Limits(connect: nil, firstByte: nil, idle: .milliseconds(200), total: nil),
                "nothing"
            ),
        ]
        for (path, timeouts, words) in cases {
            var request = try request(path)
            request.timeouts = timeouts
            let error = try failure(of: await loader.load(request))
            #expect(error.code == .timedOut)
            #expect(error.message?.contains(words) == true, "\(error)")
        }
        #expect(loader.keepsTimeouts)
    }

    @Test("R20: a limit that the caller has set is longer than the default silence, and counts instead of it")
    func namedSilence() {
        let start = ContinuousClock.now
        var limits = Timeout.Limits.standard
        let byDefault = AttemptTimeouts(limits, start: start)
        #expect(byDefault.timeoutMessage(at: start.advanced(by: .seconds(61))) != nil)
        limits.total = .seconds(300)
        let longer = AttemptTimeouts(limits, start: start)
        #expect(longer.timeoutMessage(at: start.advanced(by: .seconds(299))) == nil)
        #expect(longer.nextCheck(after: start) == start.advanced(by: .seconds(300)))
        #expect(longer.timeoutMessage(at: start.advanced(by: .seconds(301)))?.contains("total") == true)
    }

    @Test("R9: a cancelled task ends with the caller's cancellation, and the connection is closed")
    func cancellation() async throws {
        let task = Task { await loader.load(try request("/hang")) }
        #expect(await eventually { server.log.count == 1 })
        task.cancel()
        #expect(try failure(of: await task.value).code == .cancelled)
        #expect(await eventually { server.openConnectionCount == 0 })
    }

    @Test("R9: a request of a cancelled task is not sent")
    func cancelledBefore() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await loader.load(try request("/ok"))
        }
        let error = try failure(of: await task.value)
        #expect(error.code == .cancelled)
        #expect(error.bytesSent == 0)
        #expect(server.log.isEmpty)
    }

    @Test("R30: each of many requests that are cancelled at any moment completes")
    func massCancellation() async throws {
        for round in 0..<20 {
            let tasks = (0..<10).map { number in
                Task { await loader.load(try request(number % 2 == 0 ? "/hang" : "/ok")) }
            }
            try await Task.sleep(for: .milliseconds(round))
            for task in tasks { task.cancel() }
            for task in tasks {
                if case .failure(let error) = try await task.value { #expect(error.code == .cancelled, "\(error)") }
            }
        }
        #expect(try await loader.response(for: request("/ok")).status == 200)
    }

    @Test("a reset ends what is under way, awaits it, and goes on")
    func reset() async throws {
        let tasks = (0..<5).map { _ in Task { await loader.load(try request("/hang")) } }
        #expect(await eventually { server.log.count == 5 })
        await loader.reset()
        for task in tasks { #expect(try failure(of: await task.value).code == .cancelled) }
        #expect(try await loader.response(for: request("/ok")).status == 200)
        await loader.reset()
    }

    @Test("a shutdown ends what is under way, and refuses what comes later")
    func shutdown() async throws {
        let task = Task { await loader.load(try request("/hang")) }
        #expect(await eventually { server.log.count == 1 })
        await loader.shutdown()
        #expect(try failure(of: await task.value).code == .sessionInvalidated)
        let late = try failure(of: await loader.load(request("/ok")))
        #expect(late.code == .sessionInvalidated)
        #expect(late.bytesSent == 0)
        await loader.shutdown()
    }
}
