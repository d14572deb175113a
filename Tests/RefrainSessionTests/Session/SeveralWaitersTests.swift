import Dispatch
import RefrainCore
import RefrainSession
import Testing

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

        func wait(for task: DataTask<Data>) async -> Int? { await task.response.response?.status.rawValue }
    }

    /// Begins to wait on an actor that then is stuck, and will not come to look at the answer.
    private func waitStuck(for task: DataTask<Data>, _ jobs: HeldJobs) async -> Task<Int?, Never> {
        let waiting = Task { await Stuck(jobs).wait(for: task) }
        while jobs.isEmpty { await Task.yield() }
        await jobs.run()
        return waiting
    }

    @Test("where several wait, the request ends though none of them comes to look at the answer")
    func ends() async {
        let loader = HeldLoader()
        let session = Session.testing(loader)
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        let jobs = [HeldJobs(), HeldJobs()]
        let waiting = [await waitStuck(for: task, jobs[0]), await waitStuck(for: task, jobs[1])]
        loader.exchanges[0].answer(200)
        #expect(request.isFinished)
        for held in jobs { held.letGo() }
        for stuck in waiting { #expect(await stuck.value == 200) }
        withExtendedLifetime(session) {}
    }

    @Test("where several wait, the next try begins though none of them comes to look at the answer")
    func retries() async {
        let loader = HeldLoader()
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        let jobs = [HeldJobs(), HeldJobs()]
        let waiting = [await waitStuck(for: task, jobs[0]), await waitStuck(for: task, jobs[1])]
        loader.exchanges[0].answer(503)
        while !request.isFinished { await Task.yield() }
        #expect(request.retryCount == 1)
        for held in jobs { held.letGo() }
        for stuck in waiting { #expect(await stuck.value == 200) }
    }

    @Test("who comes while the answer does looks at it, where the first one who waits does not")
    func newcomer() async {
        for _ in 0..<200 {
            let loader = HeldLoader()
            let session = Session.testing(loader)
            let task = session.request(HTTPRequest.sample).serializingData()
            let jobs = HeldJobs()
            let stuck = await waitStuck(for: task, jobs)
            async let newcomer = task.response.response?.status.rawValue
            loader.exchanges[0].answer(200)
            #expect(await newcomer == 200)
            jobs.letGo()
            #expect(await stuck.value == 200)
            withExtendedLifetime(session) {}
        }
    }
}

/// An executor that keeps its jobs until it is told to run them, which it does on a thread of its own.
private final class HeldJobs: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isOpen = false
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "held jobs")

    /// Whether nothing is to be run.
    var isEmpty: Bool { state.withLock { $0.jobs.isEmpty } }

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
    func letGo() {
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
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
        }
    }
}
