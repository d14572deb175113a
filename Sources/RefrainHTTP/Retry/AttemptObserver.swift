private enum AttemptObserverOption: HTTPRequestOption {
    static var defaultValue: (@Sendable (AttemptRecord) -> Void)? { nil }
}

extension HTTPRequest {
    /// Called after each attempt, when the decision about a retry has been made.
    ///
    /// The record contains the reason and the delay. ``Retry`` calls the closure before it waits; the closure must not
    /// block. Defaults to nil.
    public var attemptObserver: (@Sendable (AttemptRecord) -> Void)? {
        get { self[option: AttemptObserverOption.self] }
        set { self[option: AttemptObserverOption.self] = newValue }
    }
}

private enum AttemptNumberOption: HTTPRequestOption {
    static let defaultValue = 1
}

extension HTTPRequest {
    /// The number of the attempt that this request is sent for, from 1, as the ``Retry`` stage before it counts.
    package var attemptNumber: Int {
        get { self[option: AttemptNumberOption.self] }
        set { self[option: AttemptNumberOption.self] = newValue }
    }
}
