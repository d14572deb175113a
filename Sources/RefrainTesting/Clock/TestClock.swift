// SPDX-License-Identifier: Apache-2.0
public import RefrainHTTP

/// A clock whose time a test advances.
///
/// ```swift
/// let clock = TestClock()
/// let task = Task.retrying(maxRetryCount: 1, clock: clock) {
///     try await load()
/// }
/// // the first attempt has failed, and its delay has begun
/// await clock.sleepers(atLeast: 1)
/// await clock.advance(by: .seconds(1))      // the delay is over
/// #expect(clock.sleeps == [.seconds(1)])
/// ```
///
/// ``sleepers(atLeast:)`` returns when that many tasks sleep, and ``advance(by:)`` returns when the tasks that are due
/// have left their sleeps. There are no yields, so load makes a test slower but never wrong. The clock cannot know
/// whether a task that it woke will sleep again: call ``sleepers(atLeast:)`` before each step, or use
/// ``run(whenWaiting:_:)``.
///
/// Most tests only check which delays were requested. ``Mode-swift.enum/autoAdvancing`` is for them.
public final class TestClock: Clock {
    /// How the clock's time advances.
    public enum Mode: Hashable, Sendable {
        /// The test moves time, and sleeping tasks wait for it.
        case manual
        /// Each sleep moves time to its end and returns at once.
        case autoAdvancing
    }

    /// An instant of the clock.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public var offset: Duration

        /// Makes an instant from its distance to the clock's start.
        public init(offset: Duration = .zero) { self.offset = offset }
        /// Returns the instant `duration` after this one.
        ///
        /// It saturates.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset.addingSaturated(duration)) }
        /// Returns the time from this instant to the other one.
        ///
        /// It saturates.
        public func duration(to other: Instant) -> Duration { other.offset.subtractingSaturated(offset) }
        /// Whether the left instant comes before the right one.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// How the clock's time advances.
    public let mode: Mode
    /// One nanosecond.
    public let minimumResolution: Swift.Duration = .nanoseconds(1)

    private let state: Observed<TestClockState>

    /// Makes a clock at its start.
    public init(_ mode: Mode = .manual) {
        self.mode = mode
        state = Observed(TestClockState())
    }

    /// The current time of the test.
    public var now: Instant { state.withLock { $0.now } }

    /// Every requested sleep, in order: the time left until its deadline when it began.
    public var sleeps: [Duration] { state.withLock { $0.sleeps } }

    /// The number of tasks that sleep at this moment.
    public var sleepers: Int { state.withLock { $0.sleepers.count } }

    /// The number of times that the clock was read or slept on.
    public var uses: Int { state.withLock { $0.uses } }

    /// Sleeps until `deadline`, or throws `CancellationError` as soon as the task is cancelled.
    ///
    /// A deadline that is not in the future ends the sleep at once.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await sleep(until: deadline, for: .delay, cancelledBy: nil)
    }

    // MARK: Calls of tests

    /// Returns when at least `count` tasks sleep, or when the calling task is cancelled.
    public func sleepers(atLeast count: Int) async {
        await state.wait { $0.sleepers.count >= count }
    }

    /// Moves time, and wakes the tasks that are due meanwhile, in the order of their deadlines.
    ///
    /// Time stands at the deadline of each task while it is woken, and moves on when the task has left its sleep. A
    /// task that sleeps again meanwhile, with a deadline within the same span, is woken again if its sleep begins
    /// before time has passed that deadline. A negative duration counts as zero.
    public func advance(by duration: Duration) async {
        let target = now.advanced(by: max(duration, .zero))
        while let due = state.withLock({ $0.removeNext(upTo: target) }) { await resumeAndAwait(due) }
    }

    /// Moves time to the earliest deadline, and wakes all tasks that are due then.
    ///
    /// Waits for a sleeping task first if there is none.
    public func advanceToNextSleeper() async {
        await sleepers(atLeast: 1)
        guard let target = state.withLock({ $0.earliestDeadline }) else { return }
        await advance(by: now.duration(to: target))
    }

    /// Runs `body`, and moves time to the next deadline whenever tasks sleep, until `body` returns.
    ///
    /// - Parameters:
    ///   - count: the number of tasks that must sleep before time moves. Where `body` sleeps in several tasks at once,
    ///     pass their number, so that time does not pass a task that has not begun its sleep.
    ///   - body: the code under test. It runs on the caller's actor.
    public nonisolated(nonsending) func run<Result>(
        whenWaiting count: Int = 1,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        let driver = Task {
            while !Task.isCancelled {
                await sleepers(atLeast: count)
                if !Task.isCancelled { await advanceToNextSleeper() }
            }
        }
        defer { driver.cancel() }
        return try await body()
    }

    /// Wakes a task, and returns when it has left its sleep.
    private func resumeAndAwait(_ due: TestClockState.Due) async {
        await withCheckedContinuation { continuation in
            state.withLock { _ in due.sleeper.left = continuation }
            due.continuation.resume()
        }
    }
}

extension TestClock: CancellableClock {
    /// Sleeps until `deadline`.
    ///
    /// In the mode ``Mode-swift.enum/autoAdvancing`` a timeout does not move time, and is none of the ``sleeps``: it
    /// ends when other sleeps have moved time that far.
    package func sleep(
        until deadline: Instant,
        for purpose: SleepPurpose,
        cancelledBy token: CancellationToken?
    ) async throws {
        try Task.checkCancellation()
        if mode == .manual || purpose == .delay {
            let isOver = state.withLock { $0.begin(deadline, movesTime: mode == .autoAdvancing) }
            guard !isOver else { return resumeTimeouts() }
        }
        let sleeper = TestClockSleeper(due: deadline)
        guard let token else { return try await suspend(sleeper) }
        try await token.withHandler({ self.cancel(sleeper) }) { try await suspend(sleeper) }
    }

    private func suspend(_ sleeper: TestClockSleeper) async throws {
        defer { state.withLock { _ in sleeper.left.take() }?.resume() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let end = state.withLock({ $0.add(sleeper, continuation) }) { continuation.resume(with: end) }
            }
        } onCancel: {
            cancel(sleeper)
        }
    }

    private func cancel(_ sleeper: TestClockSleeper) {
        state.withLock { $0.cancel(sleeper) }?.resume(throwing: CancellationError())
    }

    /// Wakes the tasks whose deadlines a sleep of the mode ``Mode-swift.enum/autoAdvancing`` has passed: timeouts.
    private func resumeTimeouts() {
        guard mode == .autoAdvancing else { return }
        for continuation in state.withLock({ $0.removeDue() }) { continuation.resume() }
    }
}

extension TestClock {
    /// Returns the clocks of a retry: this clock, and a wall clock that advances with it.
    ///
    /// - Parameter wall: the wall clock's time at this clock's current time. Defaults to 2019-06-03T11:00:00Z.
    public func retryClocks(wall: WallClock.Instant = WallClock.Instant(sinceEpoch: .seconds(1_559_559_600)))
        -> RetryClocks
    {
        let start = now
        return RetryClocks(monotonic: AnyClock(self)) { wall.advanced(by: start.duration(to: self.now)) }
    }
}

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

    /// Adds a task; returns how its sleep ends if it ends at once: it was cancelled, or time has passed its deadline,
    /// since it began.
    mutating func add(
        _ sleeper: TestClockSleeper,
        _ continuation: CheckedContinuation<Void, any Error>
    ) -> Result<Void, any Error>? {
        guard !sleeper.isCancelled else { return .failure(CancellationError()) }
        guard sleeper.due > time else { return .success(()) }
        sleeper.continuation = continuation
        let index = sleepers.firstIndex { $0.due > sleeper.due } ?? sleepers.endIndex
        sleepers.insert(sleeper, at: index)
        return nil
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
