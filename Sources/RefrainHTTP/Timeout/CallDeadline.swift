// SPDX-License-Identifier: Apache-2.0
/// When a call ends: an instant on the clock of the stage that the call began in.
///
/// It is computed once from ``HTTPRequest/timeout``, by the first stage that keeps time, and handed down with the
/// request; it changes only with the timeout. What is left of it is read where it is needed.
package struct CallDeadline: Sendable {
    fileprivate var instant: AnyClock.Instant
    fileprivate let clock: AnyClock

    init(after timeout: Duration, on clock: AnyClock) {
        self.clock = clock
        instant = clock.now.advanced(by: timeout.clampedToTimeout)
    }

    /// This deadline for a call whose timeout was changed by a span.
    fileprivate func moved(by change: Duration) -> CallDeadline {
        var copy = self
        copy.instant = instant.advanced(by: change)
        return copy
    }

    /// The time that is left; zero or less where the deadline has passed.
    package var remaining: Duration { clock.now.duration(to: instant) }
}

private enum TimeoutOption: HTTPRequestOption {
    static let defaultValue: Duration? = nil
}

private enum CallDeadlineOption: HTTPRequestOption {
    static let defaultValue: CallDeadline? = nil
}

extension HTTPRequest {
    /// The time for the whole call: all attempts, delays and redirects together.
    ///
    /// Defaults to nil: no limit. It cancels waits for a slot, an adapter, a retrier or a credential; one
    /// that does not react to it goes on to its end, but nothing is sent after it. An attempt is ended by the
    /// transport, by a session, or by a ``Timeout`` in front of a loader of your own that keeps no time
    /// (``HTTPLoader/keepsTimeouts``).
    public var timeout: Duration? {
        get { self[option: TimeoutOption.self] }
        set {
            let old = timeout
            self[option: TimeoutOption.self] = newValue?.withinClocks
            // A stage or an adapter may change the time of a call that has begun.
            guard let deadline, newValue != old else { return }
            self.deadline = timeout.map { deadline.moved(by: $0 - (old ?? .zero)) }
        }
    }

    /// When the call ends; nil where it has no timeout, or has not begun.
    package var deadline: CallDeadline? {
        get { self[option: CallDeadlineOption.self] }
        set { self[option: CallDeadlineOption.self] = newValue }
    }

    /// The timeout that a stage further in has set for the call of this request; nil: it has set none, or the same.
    ///
    /// That of a durable queue is the life of its key, which does not become longer.
    func changedTimeout(in sent: HTTPRequest) -> Duration? {
        guard let changed = sent.timeout, changed != timeout else { return nil }
        guard durableCall != nil, let timeout else { return changed }
        return changed < timeout ? changed : nil
    }

    /// Returns this request with its deadline, which is set here where the call begins here.
    func beginningCall(on clocks: RetryClocks) -> HTTPRequest {
        guard let timeout, deadline == nil else { return self }
        var copy = self
        copy.deadline = CallDeadline(after: timeout, on: clocks.timer)
        return copy
    }

    /// Whether the time of the call is up.
    package var isPastDeadline: Bool { deadline.map { $0.remaining <= .zero } ?? false }

    /// The time that is left for an attempt that begins now; nil: no limit.
    ///
    /// It is the shorter of ``attemptTimeout`` and what is left of ``timeout``.
    ///
    /// For transports: it is read when the attempt begins.
    public var timeLeft: Duration? { attemptLimits.total }

    /// This request with the limits of an attempt that begins now.
    package var withAttemptLimits: HTTPRequest {
        guard deadline != nil else { return self }
        var copy = self
        copy.timeouts = attemptLimits
        return copy
    }

    /// The limits of an attempt that begins now: ``timeouts``, the whole cut to what is left of the call (rule R20).
    package var attemptLimits: Timeout.Limits {
        var limits = timeouts
        // A transport without a stage in front of it is the call itself.
        if let left = deadline?.remaining ?? timeout { limits.cutTotal(to: left) }
        return limits
    }
}

extension HTTPRequest {
    /// Waits for a prerequisite of sending the request, such as a slot or a credential; the deadline cancels the wait.
    ///
    /// Returns the value, and whether the deadline passed. Without a deadline no clock is read and no task is started.
    /// For stages that wait:
    ///
    /// ```swift
    /// struct Gate: HTTPMiddleware {
    ///     let opened: @Sendable () async -> Void
    ///
    ///     func load(
    ///         _ request: HTTPRequest, next: any HTTPLoader
    ///     ) async -> HTTPResult {
    ///         let (_, isLate) = await request.withinDeadline(opened)
    ///         guard !isLate else {
    ///             return .failure(request.tooLate("at the gate"))
    ///         }
    ///         return await next.load(request)
    ///     }
    /// }
    /// ```
    public func withinDeadline<Value: Sendable>(
        _ wait: @escaping @Sendable () async -> Value
    ) async -> (value: Value, isCut: Bool) {
        guard let deadline else { return (await wait(), false) }
        return await withTimeout(until: deadline.instant, on: deadline.clock, wait)
    }

    /// The error of a request whose deadline passed before it was sent: ``HTTPError/Code/deadlineExceeded``.
    ///
    /// - Parameter moment: the end of the message, such as "while it waited for its turn".
    public func tooLate(_ moment: String) -> HTTPError {
        let message = "the timeout of the call passed \(moment)"
        return HTTPError(.deadlineExceeded, request: self, message: message, bytesSent: 0)
    }
}

/// Runs an operation with a time limit, after which it is cancelled.
///
/// - SeeAlso: ``withTimeout(until:on:_:)``, which documents the result.
package func withTimeout<Value: Sendable>(
    _ limit: Duration,
    on clock: AnyClock,
    _ work: @escaping @Sendable () async -> Value
) async -> (value: Value, isCut: Bool) {
    await withTimeout(until: clock.now.advanced(by: limit), on: clock, work)
}

/// Runs an operation, and cancels it at an instant.
///
/// An operation that ignores cancellation is awaited to its end; nothing is left running.
///
/// - Returns: the value, and whether the operation was cancelled because of the limit. The value may be complete even
///   then, if the operation finished as the limit passed.
package func withTimeout<Value: Sendable>(
    until end: AnyClock.Instant,
    on clock: AnyClock,
    _ work: @escaping @Sendable () async -> Value
) async -> (value: Value, isCut: Bool) {
    let (work, isDone) = begin(work)
    // Most operations finish without suspending, and need neither a limit nor a timer.
    guard !isDone else { return (await work.value, false) }
    let timer = Task {
        guard (try? await clock.sleep(until: end, for: .timeout, cancelledBy: nil)) != nil else { return false }
        work.cancel()
        return true
    }
    let value = await withTaskCancellationHandler {
        await work.value
    } onCancel: {
        work.cancel()
    }
    timer.cancel()
    let timeIsUp = await timer.value
    return (value, timeIsUp && !Task.isCancelled)
}

/// Starts the operation, on the current thread if possible; returns whether it has already finished.
private func begin<Value: Sendable>(
    _ work: @escaping @Sendable () async -> Value
) -> (work: Task<Value, Never>, isDone: Bool) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
        return (Task { await work() }, false)
    }
    let isDone = Locked(false)
    let isCancelled = Task.isCancelled
    let task = Task.immediate {
        // A cancellation cannot reach the task until it suspends, so it is passed on here.
        if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
        let value = await work()
        isDone.withLock { $0 = true }
        return value
    }
    return (task, isDone.withLock { $0 })
}
