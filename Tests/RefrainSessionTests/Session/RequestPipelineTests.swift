// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RefrainCore
import RefrainSession
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The pipeline of a request", .timeLimit(.minutes(5)))
struct RequestPipelineTests {
    @Test("every attempt takes one way: each step leads to the next one in one place, and one place to the transport")
    func oneWay() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/RefrainSession"
        )
        let session = folder.appending(path: "Session")
        func code(_ name: String) throws -> String {
            try String(contentsOf: session.appending(path: name), encoding: .utf8)
        }
        func count(_ call: String, in text: String) -> Int { text.ranges(of: call).count }
        let pipeline = try code("RequestPipeline.swift")
        for call in [
            "call.admitted", "await coalesce(", "redirect.follow(", "await retry(", "retry.run(",
            "await attempt(", "RequestAdaptation.prepare(", "await pace(", "pacer.pass(", "pacer.end(",
            "await inspect(", "BodyProgress.send(",
        ] { #expect(count(call, in: pipeline) == 1, "\(call)") }
        #expect(count("transport.load(", in: pipeline) == 0)
        let sending = try code("BodyProgress.swift")
        #expect(count("transport.load(", in: sending) == 1)
        // A step that has nothing to do passes the request on to the next one, and to no other.
        for (step, next) in [
            ("pace", "limit"), ("limit", "withinTime"), ("withinTime", "resume"), ("resume", "send"),
        ] {
            let start = try #require(pipeline.firstRange(of: "private func \(step)("))
            let rest = pipeline[start.upperBound...]
            let body = String(rest[..<(rest.firstRange(of: "\n    }")?.lowerBound ?? rest.endIndex)])
            #expect(count("\(next)(", in: body) == 2 && count(" else { return await", in: body) == 1, "\(step)")
        }
    }

    @Test("a first answer that is acceptable ends the request; it was sent on the caller's thread")
    func fine() async throws {
        let loader = HeldLoader()
        let session = Session.testing(loader)
        defer { withExtendedLifetime(session) {} }
        let request = session.request(HTTPRequest.sample).validate()
        let task = request.serializingData()
        #expect(loader.exchanges.count == 1)
        async let response = task.response
        loader.exchanges[0].answer(200)
        let value = try await response.result.get()
        #expect(Array(value) == Array("ok".utf8))
        #expect(loader.loads.isEmpty)
        #expect(request.attempts.map(\.reason) == [.succeeded])
        #expect(request.attempts.map(\.number) == [1])
        #expect(request.attempts.first?.status == 200)
    }

    @Test("R29: a first attempt that failed is followed by others, and all are on record")
    func goesOn() async throws {
        let loader = HeldLoader()
        let clock = InstantClock()
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended, clock: clock)
        let other = session.request(HTTPRequest.sample)
        let data = other.serializingData()
        async let response = data.response
        clock.advance(by: .seconds(2))
        loader.exchanges[0].answer(503, headers: ["Retry-After": "7"])
        #expect(try await response.result.get().count == 6)
        #expect(other.attempts.map(\.number) == [1, 2])
        #expect(other.attempts.map(\.decision) == [.retry, .finish])
        #expect(other.attempts.first?.status == 503)
        #expect(other.retryCount == 1)
        #expect(loader.loads.count == 1)
        // What the server asks for, and a little more, so that not all come back at once.
        let wait = try #require(clock.waits.first)
        #expect(clock.waits.count == 1)
        #expect(wait >= .seconds(7) && wait < .seconds(9))
        #expect(other.attempts[0].duration == .seconds(2))
        #expect(other.attempts[1].start == .seconds(2) + wait)
    }

    @Test("R9: cancelling a request cancels its exchange, and it ends once")
    func cancelled() async {
        let loader = HeldLoader()
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        defer { withExtendedLifetime(session) {} }
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        async let response = task.response
        request.cancel()
        guard case .failure(.explicitlyCancelled) = await response.result else {
            Issue.record("not cancelled")
            return
        }
        #expect(loader.cancelled == 1)
        #expect(loader.loads.isEmpty)
        #expect(request.attempts.map(\.reason) == [.cancelled])
        #expect(request.attempts.first?.bytesSent == 90)
        // Later events are ignored.
        request.cancel()
        #expect(loader.cancelled == 1)
    }

    @Test("R9: a request that is cancelled while it is handed over is cancelled at the transport")
    func cancelledMeanwhile() async {
        let early = Locked<Request?>(nil)
        let loader = HeldLoader(onBegin: { early.withLock { $0 }?.cancel() })
        let session = Session.testing(loader)
        defer { withExtendedLifetime(session) {} }
        let request = session.request(HTTPRequest.sample)
        early.withLock { $0 = request }
        let task = request.serializingData()
        #expect(loader.cancelled == 1)
        guard case .failure(.explicitlyCancelled) = await task.result else {
            Issue.record("not cancelled")
            return
        }
        early.withLock { $0 = nil }
    }

    @Test("R9: a waiting task that is cancelled cancels the exchange")
    func waiterCancelled() async {
        let loader = HeldLoader()
        let session = Session.testing(loader)
        let task = Task { await session.request(HTTPRequest.sample).serializingData().result }
        await loader.exchanges(atLeast: 1)
        task.cancel()
        guard case .failure(.explicitlyCancelled) = await task.value else {
            Issue.record("not cancelled")
            return
        }
        #expect(loader.cancelled == 1)
    }

    @Test("R9: a request that is cancelled after its first answer is not tried again, and that attempt stays on record")
    func cancelledAtTheDecision() async {
        let loader = HeldLoader()
        let cancelling = Retrier { request, _, _ in
            request.cancel()
            return .retry
        }
        let session = Session.testing(loader, interceptor: cancelling)
        defer { withExtendedLifetime(session) {} }
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        loader.exchanges[0].answer(503)
        _ = await task.response
        #expect(request.isCancelled)
        #expect(request.attempts.count == 1)
        #expect(request.attempts.first?.status == 503)
        #expect(loader.loads.isEmpty)
    }

    @Test("a reset cancels what the transport has, waits for it, and lets the next request through")
    func reset() async throws {
        let loader = HeldLoader()
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        let request = session.request(HTTPRequest.sample)
        async let response = request.serializingData().response
        await loader.exchanges(atLeast: 1)
        await session.reset()
        #expect(loader.cancelled == 1)
        #expect(await response.error != nil)
        #expect(request.isFinished)
        let next = session.request(HTTPRequest.sample).serializingData()
        loader.exchanges[1].answer(200)
        #expect(try await next.value.count == 2)
    }

    @Test("a reset of a session returns after the requests that it has cancelled", .timeLimit(.minutes(2)))
    func resetWaits() async {
        let journal = Journal<String>()
        let loader = SlowToLeave(journal)
        let session = Session.testing(loader)
        let task = session.request(HTTPRequest.sample).serializingData()
        await loader.begun.wait()
        await session.reset()
        journal.append("reset")
        _ = await task.response
        #expect(journal.entries == ["returned", "reset"])
    }

    @Test("a session that drains refuses requests, lets those in flight end, and ends what is left after the timeout")
    func drains() async {
        let loader = HeldLoader()
        let session = Session.testing(loader)
        let kept = session.request(HTTPRequest.sample).serializingData()
        await loader.exchanges(atLeast: 1)
        let draining = Task { await session.drain() }
        loader.exchanges[0].answer(200)
        #expect(await draining.value)
        #expect(await kept.response.value?.count == 2)
        let refused = session.request(HTTPRequest.sample).error
        #expect(refused.map { if case .sessionInvalidated = $0 { true } else { false } } == true)

        let other = Session.testing(loader)
        let hung = other.request(HTTPRequest.sample).serializingData()
        await loader.exchanges(atLeast: 2)
        #expect(await !other.drain(timeout: .seconds(20)))
        let ended = await hung.response.error
        #expect(ended.map { if case .sessionInvalidated = $0 { true } else { false } } == true)
    }

    @Test("a session that drains admits the requests of a refresh, also where the request that began it has left")
    func drainsWithRefresh() async throws {
        let service = TokenService()
        let (begun, goesOn) = (Signal(), Signal())
        let authenticator = TokenAuthenticator { _, session in
            begun.set()
            await goesOn.wait()
            var request = HTTPRequest("/token", method: .post)
            request.headers["X-Refresh"] = "yes"
            return Token(value: try await session.request(request).serializingString().value)
        }
        let interceptor = AuthenticationInterceptor(
            authenticator: authenticator,
            credential: Token(value: "t1", requiresRefresh: true)
        )
        let session = Session.testing(service, interceptor: interceptor)
        let first = session.request(HTTPRequest.sample).resume()
        await begun.wait()
        let second = session.request(HTTPRequest.sample).resume()
        // No event: nothing tells that a request has begun to wait.
        while interceptor.numberOfWaitingRequests < 2 { await Task.yield() }
        #expect(await first.cancel().serializingData().response.error?.isCancellation == true)
        let draining = Task { await session.drain() }
        // No event: nothing tells that a session has begun to drain.
        while session.request(HTTPRequest.sample).error == nil { await Task.yield() }
        goesOn.set()
        #expect(try await second.serializingString().value == "200")
        #expect(await draining.value)
        #expect(service.refreshes == 1)
    }

    @Test("a session that drains refuses what was made and not started, which would never end by itself")
    func drainsWithoutStarting() async {
        let loader = HeldLoader()
        let session = Session.testing(loader)
        let idle = [session.request(HTTPRequest.sample), session.request(HTTPRequest.sample).suspend()]
        let kept = session.request(HTTPRequest.sample).serializingData()
        await loader.exchanges(atLeast: 1)
        let draining = Task { await session.drain() }
        loader.exchanges[0].answer(200)
        #expect(await draining.value)
        #expect(await kept.response.value?.count == 2)
        for request in idle {
            #expect(request.error.map { if case .sessionInvalidated = $0 { true } else { false } } == true)
        }
        #expect(loader.exchanges.count == 1)
    }

    @Test("a redirect is followed, with the outcome of the first hop on record")
    func redirect() async throws {
        let loader = HeldLoader()
        let session = Session.testing(loader)
        defer { withExtendedLifetime(session) {} }
        let request = session.request(HTTPRequest.sample)
        async let response = request.serializingData().response
        await loader.exchanges(atLeast: 1)
        loader.exchanges[0].answer(302, headers: ["Location": "/moved"])
        await loader.exchanges(atLeast: 2)
        loader.exchanges[1].answer(200)
        #expect(try await response.result.get().count == 2)
        #expect(loader.exchanges.map(\.request.url.path) == ["/sample", "/moved"])
        #expect(request.attempts.map(\.reason) == [.redirected, .succeeded])
    }

    @Test("several waiters all get the one response")
    func severalWaiters() async throws {
        let loader = HeldLoader()
        let session = Session.testing(loader)
        defer { withExtendedLifetime(session) {} }
        let request = session.request(HTTPRequest.sample)
        let tasks = (0..<8).map { _ in Task { await request.serializingData().response } }
        await loader.exchanges(atLeast: 1)
        loader.exchanges[0].answer(200)
        for task in tasks { #expect(try await task.value.result.get().count == 2) }
        #expect(loader.exchanges.count == 1)
    }

    @Test("R20: the deadline cuts the first attempt, as it does every one")
    func deadline() async {
        let loader = HeldLoader()
        var original = HTTPRequest.sample
        original.timeout = .seconds(3)
        let session = Session.testing(loader)
        defer { withExtendedLifetime(session) {} }
        let task = session.request(original).serializingData()
        #expect(loader.exchanges[0].request.timeouts.total == .seconds(3))
        loader.exchanges[0].answer(200)
        #expect(await task.response.error == nil)
    }

    @Test("R22: each call makes one deposit in its origin's budget")
    func budget() async throws {
        let clock = InstantClock()
        let budget = RetryBudget(ratio: 1, minimumRetriesPerSecond: 0, clock: AnyClock(clock))
        let loader = HeldLoader()
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended, clock: clock) { settings in
            settings.budgets = Retry.Budgets { _ in budget }
        }
        for number in 0..<3 {
            let task = session.request(HTTPRequest.sample).serializingData()
            loader.exchanges[number].answer(200)
            _ = await task.response
        }
        #expect(budget.balance == 3)
        let failing = session.request(HTTPRequest.sample).serializingData()
        loader.exchanges[3].answer(503)
        _ = await failing.response
        // Four calls, one retry.
        #expect(budget.balance == 3)
    }

    @Test("a check of the caller's sees the caller's task-local values")
    func callersCode() async {
        let loader = ScriptedLoader(.status(200))
        let seen = Locked<[Int]>([])
        await Mark.$value.withValue(7) {
            let session = Session.testing(loader)
            defer { withExtendedLifetime(session) {} }
            let request = session.request(HTTPRequest.sample).validate { _, _, _ in
                seen.withLock { $0.append(Mark.value) }
                return .success(())
            }
            _ = await request.serializingData().response
        }
        #expect(seen.withLock { $0 } == [7])
    }

    @Test("a check that is added while the transport has the request is not run on the transport's thread")
    func lateCheck() async {
        let loader = HeldLoader()
        let seen = Locked<[Bool]>([])
        let session = Session.testing(loader)
        defer { withExtendedLifetime(session) {} }
        let request = session.request(HTTPRequest.sample)
        request.resume()
        request.validate { _, _, _ in
            let isInTask = withUnsafeCurrentTask { $0 != nil }
            seen.withLock { $0.append(isInTask) }
            return .success(())
        }
        // A thread that runs no task, as a transport's own.
        DispatchQueue.global().async { loader.exchanges[0].answer(200) }
        _ = await request.serializingString().response
        #expect(seen.withLock { $0 } == [true])
    }

    @Test("R9: a request that is cancelled before it is handed over is not sent")
    func cancelledBefore() async {
        let loader = HeldLoader()
        // The budget is asked for after the start, and before anything is sent.
        let early = Locked<Request?>(nil)
        let impatient = Session.testing(loader) { settings in
            settings.budgets = Retry.Budgets { _ in
                early.withLock { $0 }?.cancel()
                return .standard()
            }
        }
        let request = impatient.request(HTTPRequest.sample)
        early.withLock { $0 = request }
        let task = request.serializingData()
        guard case .failure(.explicitlyCancelled) = await task.result else {
            Issue.record("not cancelled")
            return
        }
        #expect(loader.exchanges.isEmpty)
        #expect(request.attempts.first?.bytesSent == 0)
        early.withLock { $0 = nil }
        withExtendedLifetime(impatient) {}
    }

    @Test("R9: nothing is sent again once cancel() has returned, whenever the first answer comes")
    func cancelledAsTheAnswerComes() async throws {
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 3))
        for round in 0..<2_000 {
            let isCancelled = Locked(false)
            let late = Locked(0)
            let loader = HeldLoader(answer: { request in
                // One that was on its way to the transport just then has a task that is cancelled, which that sees.
                if isCancelled.withLock({ $0 }), !Task.isCancelled { late.withLock { $0 += 1 } }
                return .success(HTTPResponse(request: request, status: 200, body: .text("loaded")))
            })
            let session = Session.testing(loader, interceptor: policy)
            let request = session.request(HTTPRequest.sample)
            request.resume()
            let answers = Locked(false)
            DispatchQueue.global().async {
                answers.withLock { $0 = true }
                loader.exchanges[0].answer(503)
            }
            // No event: the cancellation has to come within microseconds of the answer.
            while !answers.withLock({ $0 }) {}
            for _ in 0..<(round % 200) { _ = answers.withLock { $0 } }
            request.cancel()
            isCancelled.withLock { $0 = true }
            _ = await request.serializingData().response
            #expect(late.withLock { $0 } == 0, "round \(round)")
            withExtendedLifetime(session) {}
        }
    }

    @Test("R29: a request that another caller's was sent as says nothing to that caller")
    func borrowed() async throws {
        let loader = ScriptedLoader(.status(200))
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        let first = session.request(HTTPRequest.sample)
        async let done = first.serializingString().response
        _ = await done
        let sent = try #require(first.request)
        let count = first.attempts.count
        let second = session.request(sent)
        let task = second.serializingData()
        second.cancel()
        _ = await task.response
        #expect(second.attempts.count == 1)
        #expect(first.attempts.count == count)
        withExtendedLifetime(session) {}
    }

    @Test("a request that has ended is deallocated")
    func isReleased() async {
        let loader = ScriptedLoader(.status(200, body: "ok"))
        let session = Session.testing(loader)
        weak var request: Request?
        do {
            let made = session.request(HTTPRequest.sample)
            request = made
            _ = await made.serializingData().response
        }
        #expect(request == nil)
    }
}

private enum Mark {
    @TaskLocal static var value = 0
}
