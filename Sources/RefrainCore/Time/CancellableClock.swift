/// A clock whose sleeps can be cancelled by a ``CancellationToken``, and which tells delays and timeouts apart.
package protocol CancellableClock: Clock<Duration> {
    /// Sleeps until `deadline`. Throws `CancellationError` as soon as the task or the token is cancelled.
    func sleep(until deadline: Instant, for purpose: SleepPurpose, cancelledBy token: CancellationToken?) async throws
}

/// What a sleep is for.
package enum SleepPurpose: Sendable {
    /// Nothing else happens meanwhile.
    case delay
    /// Other work runs meanwhile, and is cancelled at the end of the sleep.
    ///
    /// A clock for tests whose time jumps to the end of each delay must not jump here: the work has had no time.
    case timeout
}

/// An ``AnyClock`` whose sleeps a token cancels: the clock of a retry stage.
@usableFromInline
package struct TokenClock: Clock {
    @usableFromInline let base: AnyClock
    @usableFromInline let token: CancellationToken

    @usableFromInline package var now: AnyClock.Instant { base.now }
    @usableFromInline package var minimumResolution: Duration { base.minimumResolution }

    @usableFromInline
    package func sleep(until deadline: AnyClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline, for: .delay, cancelledBy: token)
    }
}

extension AnyClock {
    /// Returns this clock, with sleeps that the token cancels.
    package func cancelled(by token: CancellationToken) -> TokenClock { TokenClock(base: self, token: token) }
}

extension Clock where Duration == Swift.Duration {
    /// Sleeps for `delay`.
    ///
    /// Returns false as soon as the task, or the token of the clock, is cancelled.
    ///
    /// The clocks of this package are distinguished at compile time, and their sleeps inlined: a call through the
    /// protocol would keep two more frames per sleeping task, and would read the clock.
    @inlinable
    @inline(__always)
    package nonisolated(nonsending) func waits(for delay: Duration) async -> Bool {
        if Self.self == TimerClock.self { return await TimerClock.sleep(for: delay, cancelledBy: nil) }
        if Self.self == TokenClock.self, let clock = self as? TokenClock, clock.base.isTimer {
            return await clock.token.sleeps(for: delay)
        }
        return await sleepsUncancelled(for: delay)
    }

    // Apart, so that frames which are not asleep have no room for it.
    /// Sleeps for `delay` by the protocol's own function; returns false if it throws.
    @usableFromInline
    @inline(never)
    nonisolated(nonsending) func sleepsUncancelled(for delay: Duration) async -> Bool {
        do {
            try await sleep(until: now.advanced(by: delay), tolerance: nil)
            return true
        } catch {
            return false
        }
    }
}

extension CancellationToken {
    // Apart, because the frame of each request in flight would have room for it.
    /// Sleeps for `delay`; returns false as soon as the task or this token is cancelled.
    @usableFromInline
    @inline(never)
    nonisolated(nonsending) func sleeps(for delay: Duration) async -> Bool {
        await TimerClock.sleep(for: delay, cancelledBy: self)
    }
}
