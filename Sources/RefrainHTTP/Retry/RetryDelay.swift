extension RetryDecision {
    /// The wait before another attempt: the longer of what the server and the schedule want (rules R17 and R18).
    public struct Delay: Sendable, Hashable {
        /// What the schedule gives, jitter included.
        public var schedule: ClosedRange<Duration>
        /// What the server wants, or nil.
        public var server: Duration?
        /// What no jitter may push a server's delay over: its cap and the deadline.
        public var bound: Duration?

        /// Describes a wait.
        public init(schedule: ClosedRange<Duration>, server: Duration? = nil, bound: Duration? = nil) {
            self.schedule = schedule
            self.server = server
            self.bound = bound
        }

        /// The shortest and the longest wait that can come out.
        public var range: ClosedRange<Duration> {
            guard let server else { return schedule }
            return max(server, schedule.lowerBound)...max(jitteredServerDelay(1), schedule.upperBound)
        }

        /// One wait out of the range.
        public func sample(using random: RandomSource) -> Duration {
            let spread = schedule.upperBound.inSeconds - schedule.lowerBound.inSeconds
            let planned =
                spread > 0
                ? Duration.delay(seconds: schedule.lowerBound.inSeconds + spread * random.unit()) : schedule.upperBound
            let scheduled = min(max(planned, schedule.lowerBound), schedule.upperBound)
            guard server != nil else { return scheduled }
            return max(jitteredServerDelay(random.unit()), scheduled)
        }

        /// The server's delay with a share of the jitter it may get: a tenth of it, and no more than a second.
        ///
        /// Clients that were told the same moment should not all return at it; none may return before it.
        private func jitteredServerDelay(_ share: Double) -> Duration {
            guard let server else { return .zero }
            let added = Duration.delay(seconds: min(server.inSeconds / 10, 1) * share)
            let longest = server.addingSaturated(added)
            guard let bound else { return longest }
            return max(server, min(longest, bound))
        }
    }
}
