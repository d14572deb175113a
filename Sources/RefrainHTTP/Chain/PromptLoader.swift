/// A transport that takes a request without a task that waits in it.
///
/// Most requests end with their first answer, and nothing in the chain before the transport has anything to wait for.
/// Such a request needs no task, nor the frames of one: whoever hands it over hears of the result when it comes. A
/// session whose loader is one hands most first tries over in this way, and loads all others as usual.
public protocol PromptLoader: HTTPLoader {
    /// Hands a request over, one whose body is in memory and whose response is collected.
    ///
    /// The receiver hears of the result exactly once, from any thread, and maybe before this returns. It may keep that
    /// thread only for a moment, since the transport may do nothing else meanwhile.
    ///
    /// - Returns: what to name the exchange by to cancel it; nil where nothing is left to cancel.
    func begin(_ request: HTTPRequest, for receiver: any ResultReceiver) -> AnyObject?

    /// Ends an exchange, which is then received as ``HTTPError/Code/cancelled``; one that has ended is left as it is.
    func cancel(_ exchange: AnyObject)
}

/// Whoever hears of the result of a request that was handed to a ``PromptLoader``.
public protocol ResultReceiver: AnyObject, Sendable {
    /// Is called once, when the result has come.
    func receive(_ result: HTTPResult)
}

extension HTTPRequest {
    /// Whether the request's body is in memory, and its response is collected there as well.
    package var staysInMemory: Bool {
        bodySizeInMemory != nil && !streamsResponse && download == nil
    }
}
