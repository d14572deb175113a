internal import Synchronization

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
