// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

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

/// Cancels the sleeps of a group of tasks together, such as the back-offs of all requests of a retry stage.
///
/// A task of its own would have to be cancelled for that; a token ends only its sleeps.
@usableFromInline
package final class CancellationToken: Sendable {
    private struct Handlers {
        var byNumber: [UInt64: @Sendable () -> Void] = [:]
        var lastNumber: UInt64 = 0
    }

    private let cancelled = Atomic(false)
    private let handlers = Locked(Handlers())

    /// Makes a token that is not cancelled.
    package init() {}

    /// Whether sleeps with this token end as soon as they begin.
    ///
    /// A clock reads this while it holds the lock with which it registers a sleep, so no sleep can miss ``cancel()``.
    package var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Ends every sleep with this token, now and from now on, with a `CancellationError`.
    package func cancel() {
        cancelled.store(true, ordering: .releasing)
        TimerThread.shared.cancelSleeps(with: self)
        for handler in handlers.withLock({ Array($0.byNumber.values) }) { handler() }
    }

    /// Runs an operation, and calls `onCancel` if the token is or was cancelled before the operation ends.
    ///
    /// For clocks other than ``TimerClock``, whose thread finds the sleeps of a token by itself. The handler can be
    /// called twice, and from any thread.
    package nonisolated(nonsending) func withHandler<Value>(
        _ onCancel: @escaping @Sendable () -> Void,
        operation: () async throws -> Value
    ) async rethrows -> Value {
        let number = handlers.withLock { handlers in
            handlers.lastNumber += 1
            handlers.byNumber[handlers.lastNumber] = onCancel
            return handlers.lastNumber
        }
        defer { handlers.withLock { _ = $0.byNumber.removeValue(forKey: number) } }
        if isCancelled { onCancel() }
        return try await operation()
    }
}

/// The current token of a stage.
///
/// A reset cancels it, and later requests get another one.
///
/// A request takes the current token when it begins, and uses it for all its sleeps. So a request that is between two
/// sleeps when the reset comes does not begin the second one.
package final class CancellationTokenSource: Sendable {
    private let state = Locked(CancellationToken())

    package init() {}

    /// The token of requests that begin now.
    package var current: CancellationToken { state.withLock { $0 } }

    /// Cancels the current token and replaces it.
    package func cancel() {
        let past = state.withLock { current in
            defer { current = CancellationToken() }
            return current
        }
        past.cancel()
    }
}
