// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainSession

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Several who wait for one request", .timeLimit(.minutes(5)))
struct SeveralWaitersTests {
    /// An actor that may be kept from everything, as by a call that blocks it.
    private actor Stuck {
        private let jobs: HeldJobs
        nonisolated var unownedExecutor: UnownedSerialExecutor { jobs.asUnownedSerialExecutor() }

        init(_ jobs: HeldJobs) { self.jobs = jobs }

        func wait(for task: Request.ResponseTask<Data>) async -> Int? { await task.response.response?.status.rawValue }
    }

    /// Begins to wait on an actor that then is stuck, and will not come to look at the answer.
    private func waitStuck(
        for task: Request.ResponseTask<Data>,
        of request: Request,
        _ jobs: HeldJobs
    ) async -> Task<Int?, Never> {
        let before = request.waiterCount
        let waiting = Task { await Stuck(jobs).wait(for: task) }
        await jobs.arrival()
        await jobs.run()
        // No event: the runtime may do the last steps of it elsewhere.
        while request.waiterCount == before { await Task.yield() }
        return waiting
    }

    @Test("where several wait, the request ends though none of them comes to look at the answer")
    func ends() async {
        let loader = HeldLoader()
        let isFinished = Signal()
        let session = Session.testing(loader, monitors: [.finished(isFinished)])
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        let jobs = [HeldJobs(), HeldJobs()]
        let waiting = [
            await waitStuck(for: task, of: request, jobs[0]), await waitStuck(for: task, of: request, jobs[1]),
        ]
        loader.exchanges[0].answer(200)
        await isFinished.wait()
        #expect(request.isFinished)
        for held in jobs { held.resumeAndAwait() }
        for stuck in waiting { #expect(await stuck.value == 200) }
        withExtendedLifetime(session) {}
    }

    @Test("where several wait, the next attempt begins though none of them comes to look at the answer")
    func retries() async {
        let loader = HeldLoader()
        let isFinished = Signal()
        let session = Session.testing(
            loader,
            interceptor: RetryPolicy.recommended,
            monitors: [.finished(isFinished)]
        )
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        let jobs = [HeldJobs(), HeldJobs()]
        let waiting = [
            await waitStuck(for: task, of: request, jobs[0]), await waitStuck(for: task, of: request, jobs[1]),
        ]
        loader.exchanges[0].answer(503)
        await isFinished.wait()
        #expect(request.isFinished)
        #expect(request.retryCount == 1)
        for held in jobs { held.resumeAndAwait() }
        for stuck in waiting { #expect(await stuck.value == 200) }
    }

    @Test("a waiter that is added while the response arrives concludes the request if the first waiter does not")
    func newcomer() async {
        for _ in 0..<200 {
            let loader = HeldLoader()
            let session = Session.testing(loader)
            let request = session.request(HTTPRequest.sample)
            let task = request.serializingData()
            let jobs = HeldJobs()
            let stuck = await waitStuck(for: task, of: request, jobs)
            async let newcomer = task.response.response?.status.rawValue
            loader.exchanges[0].answer(200)
            #expect(await newcomer == 200)
            jobs.resumeAndAwait()
            #expect(await stuck.value == 200)
            withExtendedLifetime(session) {}
        }
    }

    @Test("a request ends though the executor of the only task that waits for it is busy")
    func busyTaskExecutor() async {
        let loader = HeldLoader()
        let isFinished = Signal()
        let session = Session.testing(
            loader,
            interceptor: RetryPolicy.recommended,
            monitors: [.finished(isFinished)]
        )
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        let jobs = HeldJobs(.ofTask)
        let stuck = Task(executorPreference: jobs) { await task.response.response?.status.rawValue }
        await jobs.arrival()
        await jobs.run()
        loader.exchanges[0].answer(503)
        await isFinished.wait()
        #expect(request.isFinished)
        #expect(request.retryCount == 1)
        jobs.resumeAndAwait()
        #expect(await stuck.value == 200)
        withExtendedLifetime(session) {}
    }

    @Test("a retrier whose child tasks wait for each other is no longer held up than its request is waited for")
    func childTasks() async {
        let retrier = Retrier { _, _, _ in
            let first = Promise<Void>()
            let second = Promise<Void>()
            async let one: Void = {
                await first.value
                second.fulfill(())
            }()
            async let two: Void = {
                first.fulfill(())
                await second.value
            }()
            _ = await (one, two)
            return .retry
        }
        let loader = HeldLoader()
        let session = Session.testing(loader)
        let task = session.request(HTTPRequest.sample, interceptor: retrier).serializingData()
        async let response = task.response
        loader.exchanges[0].answer(503)
        #expect(await response.response?.status == 200)
        withExtendedLifetime(session) {}
    }

    enum Ending: CaseIterable { case reset, cancel, cancelAllAndWait }

    @Test("R9: a reset, and a cancellation, do not wait for a busy waiter", arguments: Ending.allCases)
    func busyWaiter(ending: Ending) async {
        let loader = HeldLoader()
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        let jobs = HeldJobs()
        let stuck = await waitStuck(for: task, of: request, jobs)
        switch ending {
        case .reset: await session.reset()
        case .cancel:
            request.cancel()
            // The outcome is there for all other waiters, too.
            _ = await Task { await task.response }.value
        case .cancelAllAndWait: await session.cancelAllRequestsAndWait()
        }
        #expect(request.isFinished || request.isCancelled)
        session.withAllRequests { #expect($0.isEmpty) }
        jobs.resumeAndAwait()
        #expect(await stuck.value == nil)
        #expect(request.error?.isExplicitlyCancelledError == true)
        #expect(request.attempts.map(\.number) == [1])
        #expect(loader.loads.isEmpty)
    }

    @Test("R30: a response, a reset, a cancellation and waiters may come in any order: each request ends once")
    func interleaved() async {
        for round in 0..<400 {
            let loader = HeldLoader()
            let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
            let count = 3
            let requests = (0..<count).map { session.request(HTTPRequest("/\($0)")) }
            let tasks = requests.map { $0.serializingData() }
            let completions = Counter()
            await withTaskGroup(of: Void.self) { group in
                for (number, task) in tasks.enumerated() {
                    group.addTask {
                        _ = await task.response
                        completions.increment()
                    }
                    group.addTask {
                        loader.exchanges[number].answer((round + number).isMultiple(of: 3) ? 503 : 200)
                    }
                    if (round + number).isMultiple(of: 2) { group.addTask { requests[number].cancel() } }
                }
                if !round.isMultiple(of: 4) { group.addTask { await session.reset() } }
                if round.isMultiple(of: 5) { group.addTask { await session.cancelAllRequestsAndWait() } }
            }
            #expect(completions.value == count)
            #expect(requests.allSatisfy { $0.isFinished || $0.isCancelled })
            #expect(requests.allSatisfy { $0.attempts.count { $0.status == 200 } <= 1 })
            session.withAllRequests { #expect($0.isEmpty) }
            // The reset guard is open, and no request is left behind it.
            await session.reset()
            let next = session.request(HTTPRequest.sample).serializingData()
            loader.exchanges[loader.exchanges.count - 1].answer(200)
            #expect(await next.response.error == nil)
        }
    }
}

/// An executor that keeps its jobs until it is told to run them, which it does on a thread of its own.
private final class HeldJobs: SerialExecutor, TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isOpen = false
    }

    private let state = Observed(State())
    private let queue = DispatchQueue(label: "held jobs")
    private let kind: Kind

    enum Kind { case ofActor, ofTask }

    init(_ kind: Kind = .ofActor) { self.kind = kind }

    /// Returns when there is something to be run.
    func arrival() async { await state.wait { !$0.jobs.isEmpty } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isOpen = state.withLock { state in
            if !state.isOpen { state.jobs.append(job) }
            return state.isOpen
        }
        if isOpen { run([job]) }
    }

    /// Runs what is kept up to where it waits for something; what comes later is kept again.
    func run() async {
        run(take())
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    /// Runs what is kept, and what comes later at once.
    func resumeAndAwait() {
        state.withLock { $0.isOpen = true }
        run(take())
    }

    private func take() -> [UnownedJob] {
        state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
    }

    private func run(_ jobs: [UnownedJob]) {
        queue.async { [self] in
            for job in jobs {
                switch kind {
                case .ofActor: job.runSynchronously(on: asUnownedSerialExecutor())
                case .ofTask: job.runSynchronously(on: asUnownedTaskExecutor())
                }
            }
        }
    }
}
