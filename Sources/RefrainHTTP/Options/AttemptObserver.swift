private enum AttemptObserverOption: HTTPRequestOption {
    static let defaultValue: (@Sendable (AttemptRecord) -> Void)? = nil
}

private enum AttemptRecorderOption: HTTPRequestOption {
    static let defaultValue: AttemptRecorder? = nil
}

/// Where a caller of ours keeps the record of its attempts.
///
/// Requests that differ in it alone may share an exchange, which an observer of the user's does not allow.
package struct AttemptRecorder: NotCompared {
    let note: @Sendable (AttemptRecord) -> Void

    package init(_ note: @escaping @Sendable (AttemptRecord) -> Void) { self.note = note }
}

extension HTTPRequest {
    /// Is told of every attempt, as the observer is.
    package var attemptRecorder: AttemptRecorder? {
        get { self[option: AttemptRecorderOption.self] }
        set { self[option: AttemptRecorderOption.self] = newValue }
    }

    /// Is told of every attempt as soon as it is decided what follows it.
    ///
    /// The record has the reason, and the wait before the next try. ``Retry`` calls it, before it waits. The closure
    /// must not block.
    public var attemptObserver: (@Sendable (AttemptRecord) -> Void)? {
        get { self[option: AttemptObserverOption.self] }
        set { self[option: AttemptObserverOption.self] = newValue }
    }
}
