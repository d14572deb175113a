public import RefrainHTTP

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
