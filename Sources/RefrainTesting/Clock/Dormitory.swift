internal import RefrainHTTP

/// A task that waits on a test clock.
final class TestSleeper: @unchecked Sendable {
    // @unchecked Sendable: `due` and `group` never change; the rest is touched only with the clock's lock held.
    let due: TestClock.Instant
    let group: SleepGroup?
    var continuation: CheckedContinuation<Void, any Error>?
    /// The one who woke this sleeper, and waits for it to be on its way.
    var left: CheckedContinuation<Void, Never>?
    var isCancelled = false

    init(due: TestClock.Instant, group: SleepGroup?) {
        self.due = due
        self.group = group
    }
}

/// A test that waits for sleepers.
final class SleepWatcher: @unchecked Sendable {
    // @unchecked Sendable: `count` never changes; the rest is touched only with the clock's lock held.
    let count: Int
    var continuation: CheckedContinuation<Void, Never>?
    var isDismissed = false

    init(count: Int) { self.count = count }
}

/// Who waits on a test clock, until when, and what time it is: a state machine that answers with whom to resume.
struct Dormitory {
    private(set) var sleeps: [Duration] = []
    /// Those who wait, the earliest deadline first; of equal ones the first to come.
    private(set) var sleepers: [TestSleeper] = []
    private(set) var uses = 0
    private var time = TestClock.Instant()
    private var watchers: [SleepWatcher] = []

    struct Woken {
        let sleeper: TestSleeper
        let continuation: CheckedContinuation<Void, any Error>
    }

    struct Parked {
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

    /// Notes a wait down; answers whether it is over already.
    mutating func begin(_ deadline: TestClock.Instant, movesTime: Bool) -> Bool {
        uses += 1
        sleeps.append(time.duration(to: deadline))
        if movesTime { time = max(time, deadline) }
        return deadline <= time
    }

    /// Takes out all whose time has come.
    mutating func takeDue() -> [CheckedContinuation<Void, any Error>] {
        let due = sleepers.prefix { $0.due <= time }
        sleepers.removeFirst(due.count)
        return due.compactMap { $0.continuation.take() }
    }

    mutating func park(_ sleeper: TestSleeper, _ continuation: CheckedContinuation<Void, any Error>) -> Parked {
        guard !sleeper.isCancelled, sleeper.group?.isClosed != true else { return Parked(refused: continuation) }
        sleeper.continuation = continuation
        let place = sleepers.firstIndex { $0.due > sleeper.due } ?? sleepers.endIndex
        sleepers.insert(sleeper, at: place)
        let content = watchers.filter { $0.count <= sleepers.count }
        watchers.removeAll { $0.count <= sleepers.count }
        return Parked(watchers: content.compactMap { $0.continuation.take() })
    }

    mutating func cancel(_ sleeper: TestSleeper) -> CheckedContinuation<Void, any Error>? {
        sleeper.isCancelled = true
        sleepers.removeAll { $0 === sleeper }
        return sleeper.continuation.take()
    }

    mutating func cancelAll(in group: SleepGroup) -> [CheckedContinuation<Void, any Error>] {
        let members = sleepers.filter { $0.group === group }
        sleepers.removeAll { $0.group === group }
        return members.compactMap { $0.continuation.take() }
    }

    /// Moves time to the next deadline up to `target` and takes its sleeper out, or moves it to `target` itself.
    mutating func wakeNext(upTo target: TestClock.Instant) -> Woken? {
        guard let first = sleepers.first, first.due <= target, let continuation = first.continuation.take() else {
            time = max(time, target)
            return nil
        }
        sleepers.removeFirst()
        time = max(time, first.due)
        return Woken(sleeper: first, continuation: continuation)
    }

    /// Answers whether there are sleepers enough already, or the watcher has gone; otherwise keeps the continuation.
    mutating func watch(_ watcher: SleepWatcher, _ continuation: CheckedContinuation<Void, Never>) -> Bool {
        guard sleepers.count < watcher.count, !watcher.isDismissed else { return true }
        watcher.continuation = continuation
        watchers.append(watcher)
        return false
    }

    mutating func dismiss(_ watcher: SleepWatcher) -> CheckedContinuation<Void, Never>? {
        watcher.isDismissed = true
        watchers.removeAll { $0 === watcher }
        return watcher.continuation.take()
    }
}
