internal import Refrain

/// What the tasks of a run share: the jobs that are still to be made, and what has happened since the run looked last.
///
/// Each worker fetches one job after the other, and the run takes in what has come of them. A task for each job costs
/// more than the request of a small file.
final class RunBoard: Sendable {
    /// What a run waits for.
    enum Event: Sendable {
        indirect case fetched(FetchOutcome)
        /// A worker has found no job.
        case ended
        /// A part of the list with its rows of the state, and of how many requests it was made.
        case planned(Result<[GetSettings.Job], UsageError>, count: Int)
        /// The next item of a list; nil at its end.
        case read(URLStream.Item?)
        /// It is time to write the rows that wait.
        case paused
    }

    /// A job and its number.
    typealias Job = (job: GetSettings.Job, number: Int)
    private typealias Waiter = UnsafeContinuation<[Event], Never>

    private let state: Locked<State>
    private let mostWorkers: Int

    private struct State: Sendable {
        var queue: JobQueue
        /// Jobs from this number on may not begin.
        var end = 0
        var workers = 0
        var events: [Event] = []
        var waiter: Waiter?

        /// Adds an event; returns the continuation that waits for events, if any, with all that have come.
        mutating func add(_ event: Event) -> (Waiter, [Event])? {
            events.append(event)
            guard let waiter else { return nil }
            self.waiter = nil
            return (waiter, takeEvents())
        }

        mutating func takeEvents() -> [Event] {
            defer { events = [] }
            return events
        }
    }

    /// So many outcomes for each worker wait to be taken in before no further job begins.
    private static let unreadPerWorker = 4

    init(_ queue: consuming JobQueue, workers: Int) {
        mostWorkers = workers
        state = Locked(State(queue: queue))
    }

    /// Reads or changes the queue.
    func withQueue<Result>(_ body: (inout JobQueue) -> Result) -> Result { state.withLock { body(&$0.queue) } }

    /// Whether a worker is at work.
    var isWorking: Bool { state.withLock { $0.workers > 0 } }

    /// Whether no worker is at work, and all that has happened was taken in.
    var isIdle: Bool { state.withLock { $0.workers == 0 && $0.events.isEmpty } }

    /// Lets jobs below a number begin; returns how many workers are to be started for them.
    func allow(below end: Int) -> Int {
        state.withLock { state in
            state.end = end
            let (jobs, places) = (state.queue.ready, mostWorkers - state.workers)
            let count = max(0, min(jobs, places, end - state.queue.taken))
            state.workers += count
            return count
        }
    }

    /// Waits until something has happened, and takes it in.
    func events() async -> [Event] {
        await resumption { (continuation: Waiter) in
            let events: [Event] = state.withLock { state in
                if state.events.isEmpty { state.waiter = continuation }
                return state.takeEvents()
            }
            if !events.isEmpty { continuation.resume(returning: events) }
        }
    }

    /// Adds what has happened.
    func post(_ event: Event) {
        if let (waiter, events) = state.withLock({ $0.add(event) }) { waiter.resume(returning: events) }
    }

    /// The next job of a worker, with its number; nil where it is to end.
    ///
    /// - Parameters:
    ///   - outcome: what has come of the job before.
    ///   - isCancelled: whether no further job is to begin.
    func next(after outcome: FetchOutcome?, isCancelled: Bool) -> Job? {
        let (job, ready): (Job?, (Waiter, [Event])?) = state.withLock { state in
            var ready = outcome.flatMap { state.add(.fetched($0)) }
            let isUnread = state.events.count >= Self.unreadPerWorker * mostWorkers
            if !isCancelled, !isUnread, state.queue.taken < state.end, let job = state.queue.next() {
                return (job, ready)
            }
            state.workers -= 1
            if ready == nil { ready = state.add(.ended) } else { state.events.append(.ended) }
            return (nil, ready)
        }
        if let (waiter, events) = ready { waiter.resume(returning: events) }
        return job
    }
}
