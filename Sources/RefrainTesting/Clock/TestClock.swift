public import RefrainHTTP

/// A clock whose time moves only when a test moves it.
///
/// ```swift
/// let clock = TestClock()
/// let task = Task.retrying(maxRetryCount: 1, clock: clock) { try await load() }
/// await clock.sleepers(atLeast: 1)          // the first try has failed, and its wait has begun
/// await clock.advance(by: .seconds(1))      // the wait is over
/// #expect(clock.sleeps == [.seconds(1)])
/// ```
///
/// Test and code under test shake hands: ``sleepers(atLeast:)`` returns when so many tasks wait, and
/// ``advance(by:)`` returns when those that are due have left their waits. Nothing here yields and hopes, so a loaded
/// machine makes a test slower and never wrong. The one thing that a clock cannot see is whether a task that it woke
/// will wait again; so shake hands before each step, or let ``run(whenWaiting:_:)`` do it.
///
/// Most tests only want to know which waits were asked for. For these there is ``Mode-swift.enum/autoAdvancing``.
public final class TestClock: InterruptibleClock, SleepInterrupter {
    /// How time moves.
    public enum Mode: Hashable, Sendable {
        /// The test moves time; sleepers wait for it.
        case manual
        /// Each wait moves time to its end, and returns at once.
        case autoAdvancing
    }

    /// A point of the test's time.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public var offset: Duration

        /// Makes a point of time from its distance to the clock's beginning.
        public init(offset: Duration = .zero) { self.offset = offset }
        /// The point of time that lies `duration` after this one; it stops at the range's end.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset.addingSaturated(duration)) }
        /// The time from this point to the other one; it stops at the range's end.
        public func duration(to other: Instant) -> Duration { other.offset.subtractingSaturated(offset) }
        /// Whether the left point comes before the right one.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// How time moves.
    public let mode: Mode
    /// One nanosecond.
    public let minimumResolution = Duration.nanoseconds(1)

    private let dormitory: Locked<Dormitory>

    /// Makes a clock that stands at its beginning.
    public init(_ mode: Mode = .manual) {
        self.mode = mode
        dormitory = Locked(Dormitory())
    }

    /// The present, as the test has set it.
    public var now: Instant { dormitory.withLock { $0.now } }

    /// Every wait that was asked for, in order: what was left until its deadline when it began.
    public var sleeps: [Duration] { dormitory.withLock { $0.sleeps } }

    /// How many tasks wait at this moment.
    public var sleepers: Int { dormitory.withLock { $0.sleepers.count } }

    /// How many times the clock was read or slept on.
    public var uses: Int { dormitory.withLock { $0.uses } }

    /// Waits until `deadline`, or throws `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await sleep(until: deadline, in: nil)
    }

    /// Waits until `deadline`; throws `CancellationError` as soon as the task or the group is cancelled.
    ///
    /// A deadline that is not in the future ends the wait at once.
    public func sleep(until deadline: Instant, in group: SleepGroup?) async throws {
        try Task.checkCancellation()
        let isOver = dormitory.withLock { $0.begin(deadline, movesTime: mode == .autoAdvancing) }
        guard !isOver else { return ringAlarms() }
        group?.register(self)
        try await park(TestSleeper(due: deadline, group: group))
    }

    /// Waits until `deadline` beside work that is to end then.
    ///
    /// In the mode ``Mode-swift.enum/autoAdvancing`` time does not move for it, and it is none of the ``sleeps``: it
    /// rings where other waits have moved time so far. Throws `CancellationError` as soon as the task is cancelled.
    public func alarm(at deadline: Instant) async throws {
        guard mode == .autoAdvancing else { return try await sleep(until: deadline) }
        try Task.checkCancellation()
        try await park(TestSleeper(due: deadline, group: nil))
    }

    private func park(_ sleeper: TestSleeper) async throws {
        defer { dormitory.withLock { _ in sleeper.left.take() }?.resume() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                resume(dormitory.withLock { $0.park(sleeper, continuation) })
                // Time may have come to it before it was parked.
                ringAlarms()
            }
        } onCancel: {
            dormitory.withLock { $0.cancel(sleeper) }?.resume(throwing: CancellationError())
        }
    }

    /// Ends every wait of the group.
    public func interruptAll(in group: SleepGroup) {
        let leaving = dormitory.withLock { $0.cancelAll(in: group) }
        for continuation in leaving { continuation.resume(throwing: CancellationError()) }
    }

    // MARK: What tests do

    /// Returns when at least `count` tasks wait, or when the calling task is cancelled.
    public func sleepers(atLeast count: Int) async {
        let watcher = SleepWatcher(count: count)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = dormitory.withLock { $0.watch(watcher, continuation) }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            dormitory.withLock { $0.dismiss(watcher) }?.resume()
        }
    }

    /// Moves time on, and wakes all who are due meanwhile, in the order of their deadlines.
    ///
    /// Time stands at each sleeper's deadline while it is woken, and goes on when it has left its wait. A task that
    /// waits again in the meantime, with a deadline within the same stretch, is woken again if it parks before time is
    /// past it. A negative duration counts as zero.
    public func advance(by duration: Duration) async {
        let target = now.advanced(by: max(duration, .zero))
        while let woken = dormitory.withLock({ $0.wakeNext(upTo: target) }) { await letGo(woken) }
    }

    /// Waits for a sleeper if there is none, then moves time to the earliest deadline, and wakes all who are due then.
    public func advanceToNextSleeper() async {
        await sleepers(atLeast: 1)
        guard let target = dormitory.withLock({ $0.earliestDeadline }) else { return }
        await advance(by: now.duration(to: target))
    }

    /// Runs `body`, and moves time to the next deadline whenever tasks wait, until `body` returns.
    ///
    /// - Parameters:
    ///   - count: how many tasks must wait before time moves. Where `body` waits in several tasks at once, give their
    ///     number, so that time does not run ahead of one that is still on its way into its wait.
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

    /// Wakes those whom a wait of the mode ``Mode-swift.enum/autoAdvancing`` has passed: nobody but alarms waits there.
    private func ringAlarms() {
        guard mode == .autoAdvancing else { return }
        for continuation in dormitory.withLock({ $0.takeDue() }) { continuation.resume() }
    }

    /// Wakes a sleeper, and returns when it has left its wait.
    private func letGo(_ woken: Dormitory.Woken) async {
        await withCheckedContinuation { continuation in
            dormitory.withLock { _ in woken.sleeper.left = continuation }
            woken.continuation.resume()
        }
    }

    private func resume(_ parked: Dormitory.Parked) {
        for watcher in parked.watchers { watcher.resume() }
        parked.refused?.resume(throwing: CancellationError())
    }
}
