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

/// The time of a test clock and the tasks that sleep on it, as a state machine that returns what to resume.
struct TestClockState {
    private(set) var sleeps: [Duration] = []
    /// The sleeping tasks, the earliest deadline first; of equal ones the first to sleep.
    private(set) var sleepers: [TestClockSleeper] = []
    private(set) var uses = 0
    private var time = TestClock.Instant()

    /// A task to wake.
    struct Due {
        let sleeper: TestClockSleeper
        let continuation: CheckedContinuation<Void, any Error>
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

    /// Adds a task, and returns whether it sleeps: one that is cancelled does not.
    mutating func add(_ sleeper: TestClockSleeper, _ continuation: CheckedContinuation<Void, any Error>) -> Bool {
        guard !sleeper.isCancelled else { return false }
        sleeper.continuation = continuation
        let index = sleepers.firstIndex { $0.due > sleeper.due } ?? sleepers.endIndex
        sleepers.insert(sleeper, at: index)
        return true
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
}
