internal import RefrainHTTP

/// A task that sleeps on a test clock.
final class TestClockSleeper: @unchecked Sendable {
    // @unchecked Sendable: `due` never changes; the rest is accessed only with the clock's lock held.
    let due: TestClock.Instant
    var continuation: CheckedContinuation<Void, any Error>?
    /// The call that woke this task, and waits until it has left its sleep.
    var left: CheckedContinuation<Void, Never>?
    var isCancelled = false

    init(due: TestClock.Instant) { self.due = due }
}

/// A test that waits for sleeping tasks.
final class TestClockWatcher: @unchecked Sendable {
    // @unchecked Sendable: `count` never changes; the rest is accessed only with the clock's lock held.
    let count: Int
    var continuation: CheckedContinuation<Void, Never>?
    var isRemoved = false

    init(count: Int) { self.count = count }
}

/// The time of a test clock and the tasks that sleep on it, as a state machine that returns what to resume.
struct TestClockState {
    private(set) var sleeps: [Duration] = []
    /// The sleeping tasks, the earliest deadline first; of equal ones the first to sleep.
    private(set) var sleepers: [TestClockSleeper] = []
    private(set) var uses = 0
    private var time = TestClock.Instant()
    private var watchers: [TestClockWatcher] = []

    /// A task to wake.
    struct Due {
        let sleeper: TestClockSleeper
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// What to resume after a task was added.
    struct Added {
        var watchers: [CheckedContinuation<Void, Never>] = []
        var refused: CheckedContinuation<Void, any Error>?
    }

    var now: TestClock.Instant {
        mutating get {
            uses += 1
            return time
        }
    }

    var earliestDeadline: TestClock.Instant? { sleepers.first?.due }

    /// Records a sleep, and returns whether it is already over.
    mutating func begin(_ deadline: TestClock.Instant, movesTime: Bool) -> Bool {
        uses += 1
        sleeps.append(time.duration(to: deadline))
        if movesTime { time = max(time, deadline) }
        return deadline <= time
    }

    mutating func add(_ sleeper: TestClockSleeper, _ continuation: CheckedContinuation<Void, any Error>) -> Added {
        guard !sleeper.isCancelled else { return Added(refused: continuation) }
        sleeper.continuation = continuation
        let index = sleepers.firstIndex { $0.due > sleeper.due } ?? sleepers.endIndex
        sleepers.insert(sleeper, at: index)
        let satisfied = watchers.filter { $0.count <= sleepers.count }
        watchers.removeAll { $0.count <= sleepers.count }
        return Added(watchers: satisfied.compactMap { $0.continuation.take() })
    }

    mutating func cancel(_ sleeper: TestClockSleeper) -> CheckedContinuation<Void, any Error>? {
        sleeper.isCancelled = true
        sleepers.removeAll { $0 === sleeper }
        return sleeper.continuation.take()
    }

    /// Removes all tasks that are due.
    mutating func removeDue() -> [CheckedContinuation<Void, any Error>] {
        let due = sleepers.prefix { $0.due <= time }
        sleepers.removeFirst(due.count)
        return due.compactMap { $0.continuation.take() }
    }

    /// Moves time to the next deadline up to `target` and removes its task, or moves it to `target` itself.
    mutating func removeNext(upTo target: TestClock.Instant) -> Due? {
        guard let first = sleepers.first, first.due <= target, let continuation = first.continuation.take() else {
            time = max(time, target)
            return nil
        }
        sleepers.removeFirst()
        time = max(time, first.due)
        return Due(sleeper: first, continuation: continuation)
    }

    /// Returns whether enough tasks sleep already, or the watcher was removed; otherwise keeps the continuation.
    mutating func watch(_ watcher: TestClockWatcher, _ continuation: CheckedContinuation<Void, Never>) -> Bool {
        guard sleepers.count < watcher.count, !watcher.isRemoved else { return true }
        watcher.continuation = continuation
        watchers.append(watcher)
        return false
    }

    mutating func remove(_ watcher: TestClockWatcher) -> CheckedContinuation<Void, Never>? {
        watcher.isRemoved = true
        watchers.removeAll { $0 === watcher }
        return watcher.continuation.take()
    }
}
