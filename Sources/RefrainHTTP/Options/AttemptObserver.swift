private enum AttemptObserverOption: HTTPRequestOption {
    static var defaultValue: (@Sendable (AttemptRecord) -> Void)? { nil }
}

extension HTTPRequest {
    /// Is told of every attempt as soon as it is decided what follows it.
    ///
    /// The record has the reason, and the wait before the next try. ``Retry`` calls it, before it waits. The closure
    /// must not block.
    public var attemptObserver: (@Sendable (AttemptRecord) -> Void)? {
        get { self[option: AttemptObserverOption.self] }
        set { self[option: AttemptObserverOption.self] = newValue }
    }
}
