internal import RefrainHTTP

extension MockLoader {
    /// Holds replies of a ``MockLoader`` back until the test releases them.
    ///
    /// ```swift
    /// let gate = MockLoader.Gate()
    /// mock.then(.held(by: gate, .status(200)))
    /// let task = Task { await loader.load(request) }
    /// await gate.arrivals(atLeast: 1)           // the request is in flight
    /// task.cancel()                             // or gate.release()
    /// ```
    public final class Gate: Sendable {
        private let clock = TestClock()

        /// Makes a closed gate.
        public init() {}

        /// Opens the gate for all requests, present and later ones.
        public func release() async {
            await clock.advance(by: .longestDelay)
        }

        /// Returns when at least `count` requests wait at the gate, or when the calling task is cancelled.
        public func arrivals(atLeast count: Int) async { await clock.sleepers(atLeast: count) }

        /// The number of requests that wait at the gate.
        public var count: Int { clock.sleepers }

        /// Waits until the gate is open.
        func pass(cancelledBy token: CancellationToken) async throws {
            let opening = TestClock.Instant(offset: .longestDelay)
            try await clock.sleep(until: opening, for: .delay, cancelledBy: token)
        }
    }
}
