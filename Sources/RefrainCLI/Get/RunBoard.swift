internal import Refrain

/// What the tasks of a run share: the jobs that are still to be made, and what has happened since the run looked last.
///
/// Each worker fetches one job after the other, and the run takes in what has come of them. A task for each job costs
/// more than the request of a small file.
final class RunBoard: Sendable {
    /// What a run waits for.
    enum Event: Sendable {
        indirect case fetched(FetchOutcome)
        /// Requests have ended of which nothing is to be done but to write these rows.
        case noted([TransferState.Entry])
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

    /// What a worker hands over of a request.
    enum Ending: Sendable {
        /// An outcome of which something is to be said, written or counted.
        case outcome(FetchOutcome)
        /// The row of one of which nothing else is to be done; it can wait.
        case row(TransferState.Entry)
    }

    private typealias Waiter = UnsafeContinuation<[Event], Never>

    private let state: Locked<State>
    private let mostWorkers: Int
    private let isQuiet: Bool

    private struct State: Sendable {
        var queue: JobQueue
        /// Jobs from this number on may not begin.
        var end = 0
        var workers = 0
        var events: [Event] = []
        /// The rows that wait to be taken in; the run is not woken for a few of them.
        var rows: [TransferState.Entry] = []
        var waiter: Waiter?

        /// Adds an event; returns the continuation that waits for events, if any, with all that have come.
        mutating func add(_ event: Event) -> (Waiter, [Event])? {
            events.append(event)
            return wake()
        }

        /// Adds what has come of a request.
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

    /// So many outcomes for each worker wait to be taken in before no further job begins.
    private static let unreadPerWorker = 4
    /// For so many rows the run is woken before its next pause: also to look up further parts of the list in time.
    private static let rowsPerWakeUp = 64

    /// - Parameter isQuiet: whether nothing is to be said or written of a request that went well.
    init(_ queue: consuming JobQueue, workers: Int, isQuiet: Bool = false) {
        mostWorkers = workers
        self.isQuiet = isQuiet
        state = Locked(State(queue: queue))
    }

    /// Reads or changes the queue.
    func withQueue<Result>(_ body: (inout JobQueue) -> Result) -> Result { state.withLock { body(&$0.queue) } }

    /// Whether a worker is at work.
    var isWorking: Bool { state.withLock { $0.workers > 0 } }

    /// Whether no worker is at work, and all that has happened was taken in.
    var isIdle: Bool { state.withLock { $0.workers == 0 && $0.events.isEmpty && $0.rows.isEmpty } }

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
                let events = state.takeEvents()
                if events.isEmpty { state.waiter = continuation }
                return events
            }
            if !events.isEmpty { continuation.resume(returning: events) }
        }
    }

    /// Adds what has happened.
    func post(_ event: Event) {
        if let (waiter, events) = state.withLock({ $0.add(event) }) { waiter.resume(returning: events) }
    }

    /// What the run has to know of an outcome.
    func ending(of outcome: FetchOutcome) -> Ending {
        guard isQuiet, outcome.isSuccess, outcome.remark == nil, let row = RunPlan.row(of: outcome),
            !RunPlan.isUrgent(row)
        else { return .outcome(outcome) }
        return .row(row)
    }

    /// The next job of a worker, with its number; nil where it is to end.
    ///
    /// - Parameters:
    ///   - ending: what has come of the job before.
    ///   - isCancelled: whether no further job is to begin.
    func next(after ending: Ending?, isCancelled: Bool) -> Job? {
        let (job, ready): (Job?, (Waiter, [Event])?) = state.withLock { state in
            var ready = ending.flatMap { state.add($0) }
            let isUnread = state.events.count + state.rows.count >= Self.unreadPerWorker * mostWorkers
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
