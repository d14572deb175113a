// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The state that the tasks of a run share: the remaining jobs, and the events that the run has not taken yet.
///
/// Each worker fetches one job after the other, and the run handles the outcomes. A task for each job would cost more
/// than the request of a small file.
final class RunBoard: Sendable {
    /// An event that a run waits for.
    enum Event: Sendable {
        indirect case fetched(FetchOutcome)
        /// Requests have ended that only need these rows written.
        case noted([ListEntry])
        /// A worker found no job.
        case ended
        /// A request waits for its next attempt, so that another one may begin.
        case rested
        /// A part of the list with its rows of the state, and the number of its requests.
        case planned(Result<JobQueue.Planned, UsageError>)
        /// The next item of a list; nil at its end.
        case read(URLStream.Item?)
        /// The waiting rows are due to be written.
        case paused
    }

    /// A job and its number.
    typealias Job = (job: FetchJob, number: Int)

    /// The result of a request, as a worker returns it.
    enum Ending: Sendable {
        /// An outcome that must be shown, written or counted.
        case outcome(FetchOutcome)
        /// The row of an outcome that needs nothing else; it can wait.
        case row(ListEntry)
    }

    private typealias Waiter = UnsafeContinuation<[Event], Never>

    private let state: Locked<State>
    private let maximumWorkers: Int
    private let isQuiet: Bool
    private let failsEarly: Bool

    private struct State: Sendable {
        var queue: JobQueue
        /// Jobs from this number on may not begin.
        var end = 0
        /// No further job begins, since one has failed.
        var isStopped = false
        var workers = 0
        /// The workers whose requests wait for their next attempts.
        var resting = 0
        var events: [Event] = []
        /// The rows that the run has not taken yet; a few of them do not wake it.
        var rows: [ListEntry] = []
        var waiter: Waiter?

        /// Adds an event; returns the continuation that waits for events, if any, with all pending events.
        mutating func add(_ event: Event) -> (Waiter, [Event])? {
            events.append(event)
            return wake()
        }

        /// Adds the result of a request.
        mutating func add(_ ending: Ending) -> (Waiter, [Event])? {
            switch ending {
            case .outcome(let outcome): return add(.fetched(outcome))
            case .row(let row):
                rows.append(row)
                return rows.count >= RunBoard.rowsPerWakeUp ? wake() : nil
            }
        }

        private mutating func wake() -> (Waiter, [Event])? {
            guard let waiter else { return nil }
            self.waiter = nil
            return (waiter, takeEvents())
        }

        mutating func takeEvents() -> [Event] {
            defer { (events, rows) = ([], []) }
            return rows.isEmpty ? events : [.noted(rows)] + events
        }
    }

    /// The maximum number of workers besides those that have a place.
    private static let maximumResting = 2000

    /// The number of workers that there may be.
    private func limit(_ state: State) -> Int { maximumWorkers + min(state.resting, Self.maximumResting) }

    /// Counts a worker as one that waits, so that another one may begin.
    func rest() {
        let ready = state.withLock { state -> (Waiter, [Event])? in
            state.resting += 1
            return state.add(.rested)
        }
        if let (waiter, events) = ready { waiter.resume(returning: events) }
    }

    /// Counts a worker as one that has a place again.
    func wake() { state.withLock { $0.resting -= 1 } }

    /// No further job begins while this many outcomes per worker wait.
    private static let unreadPerWorker = 4
    /// This many rows wake the run before its next pause, also to look up further parts of the list in time.
    private static let rowsPerWakeUp = 64

    /// - Parameters:
    ///   - isQuiet: whether a successful request is neither shown nor written.
    ///   - failsEarly: whether no job begins after one that failed.
    init(_ queue: consuming JobQueue, workers: Int, isQuiet: Bool = false, failsEarly: Bool = false) {
        maximumWorkers = workers
        self.isQuiet = isQuiet
        self.failsEarly = failsEarly
        state = Locked(State(queue: queue))
    }

    /// Reads or changes the queue.
    func withQueue<Result>(_ body: (inout JobQueue) -> Result) -> Result { state.withLock { body(&$0.queue) } }

    /// Whether a worker is running.
    var isWorking: Bool { state.withLock { $0.workers > 0 } }

    /// Whether no worker is running, and all events were taken.
    var isIdle: Bool { state.withLock { $0.workers == 0 && $0.events.isEmpty && $0.rows.isEmpty } }

    /// Allows jobs below a number to begin; returns the number of workers to start for them.
    func allow(below end: Int) -> Int {
        state.withLock { state in
            state.end = end
            let (jobs, idle) = (state.queue.ready, limit(state) - state.workers)
            let count = state.isStopped ? 0 : max(0, min(jobs, idle, end - state.queue.taken))
            state.workers += count
            return count
        }
    }

    /// Puts a job back that another run has taken.
    func hold(_ job: FetchJob) {
        state.withLock { state in
            state.queue.hold(job)
            // It has not failed.
            state.isStopped = false
        }
    }

    /// Waits for events, and takes them.
    func events() async -> [Event] {
        await resumption { (continuation: Waiter) in
            let events: [Event] = state.withLock { state in
                let events = state.takeEvents()
                if events.isEmpty { state.waiter = continuation }
                return events
            }
            if !events.isEmpty { continuation.resume(returning: events) }
        }
    }

    /// Adds an event.
    func post(_ event: Event) {
        if let (waiter, events) = state.withLock({ $0.add(event) }) { waiter.resume(returning: events) }
    }

    /// The result that the run needs of an outcome.
    func ending(of outcome: FetchOutcome) -> Ending {
        guard isQuiet, outcome.isSuccess, outcome.remark == nil, !outcome.isWrittenAtOnce,
            let row = RunPlan.row(of: outcome), !RunPlan.isUrgent(row)
        else { return .outcome(outcome) }
        return .row(row)
    }

    /// The next job of a worker, with its number; nil if the worker must end.
    ///
    /// - Parameters:
    ///   - ending: the result of the previous job.
    ///   - isCancelled: whether no further job may begin.
    func next(after ending: Ending?, isCancelled: Bool) -> Job? {
        let (job, ready): (Job?, (Waiter, [Event])?) = state.withLock { state in
            // Here, since the worker would otherwise begin a job before the run has seen the failure.
            if failsEarly, case .outcome(let outcome)? = ending, !outcome.isSuccess { state.isStopped = true }
            var ready = ending.flatMap { state.add($0) }
            let isUnread = state.events.count + state.rows.count >= Self.unreadPerWorker * maximumWorkers
            if !isCancelled, !state.isStopped, !isUnread, state.workers <= limit(state), state.queue.taken < state.end,
                let job = state.queue.next()
            {
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
