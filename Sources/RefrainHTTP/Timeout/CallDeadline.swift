/// When a call ends: an instant on the clock of the stage that the call began in.
///
/// It is computed once from ``HTTPRequest/timeout``, by the first stage that keeps time, and handed down with the
/// request; no stage changes it. What is left of it is read where it is needed.
package struct CallDeadline: Sendable {
    private let instant: AnyClock.Instant
    private let clock: AnyClock

    init(after timeout: Duration, on clock: AnyClock) {
        self.clock = clock
        instant = clock.now.advanced(by: timeout.clampedToTimeout)
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
    /// that does not react to it goes on to its end, but nothing is sent after it.
    public var timeout: Duration? {
        get { self[option: TimeoutOption.self] }
        set { self[option: TimeoutOption.self] = newValue?.withinClocks }
    }

    /// When the call ends; nil where it has no timeout, or has not begun.
    package var deadline: CallDeadline? {
        get { self[option: CallDeadlineOption.self] }
        set { self[option: CallDeadlineOption.self] = newValue }
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

extension AttemptOutcome {
    /// This outcome of a call that began with `original`; its request can be sent again, as a call of its own.
    func ending(_ original: HTTPRequest) -> AttemptOutcome {
        guard original.timeout != nil, original.deadline == nil else { return self }
        var copy = self
        switch result {
        case .success(var response):
            response.request.deadline = nil
            copy.result = .success(response)
        case .failure(var error):
            error.request.deadline = nil
            error.response?.request.deadline = nil
            copy.result = .failure(error)
        }
        return copy
    }
}
