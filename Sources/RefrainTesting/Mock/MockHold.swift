internal import RefrainHTTP

/// A gate before replies: requests come up to it, and stay until the test lets them pass.
///
/// ```swift
/// let hold = MockHold()
/// mock.then(.held(by: hold, .status(200)))
/// let task = Task { await loader.load(request) }
/// await hold.arrivals(atLeast: 1)           // the request is under way
/// task.cancel()                             // or hold.release()
/// ```
public final class MockHold: Sendable {
    private let door = TestClock()

    /// Makes a gate that is closed.
    public init() {}

    /// Lets everyone pass who is at the gate, and everyone who comes later.
    public func release() async {
        await door.advance(by: .longestDelay)
    }

    /// Returns when at least `count` requests are at the gate, or when the calling task is cancelled.
    public func arrivals(atLeast count: Int) async { await door.sleepers(atLeast: count) }

    /// How many requests are at the gate.
    public var count: Int { door.sleepers }

    /// Waits at the gate: a moment that comes only when the test moves time to it.
    func pass(in group: SleepGroup) async throws {
        try await door.sleep(until: TestClock.Instant(offset: .longestDelay), in: group)
    }
}
