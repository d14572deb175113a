public import RefrainHTTP

extension TestClock {
    /// A pair of this clock and a wall clock that moves along with it.
    ///
    /// - Parameter wall: the time of day at this clock's present; 2019-06-03T11:00:00Z unless told otherwise.
    public func clockPair(wall: WallInstant = WallInstant(sinceEpoch: .seconds(1_559_559_600))) -> ClockPair {
        let start = now
        return ClockPair(monotonic: ErasedClock(self)) { wall.advanced(by: start.duration(to: self.now)) }
    }
}
