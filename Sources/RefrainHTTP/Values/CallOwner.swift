/// Whoever makes requests of a chain: it hears of their attempts, and its task is the one that they run in.
///
/// It must live while its request is under way, since it is asked what follows a try. Its own task keeps it. An
/// exchange that it shares may outlast that task, and has to keep it then.
package protocol Caller: AnyObject, Sendable {
    /// An attempt was decided on; `attempts` are all of the retry stage's, this one the last.
    func note(_ attempts: [AttemptRecord])

    /// Cancels what the caller's request runs in.
    func cancelTask()

    /// Others have joined an exchange that is made for the caller.
    func sharesExchange()
}

/// Whom a request is made for.
///
/// It says nothing of how a request is to be treated: requests that differ in it alone may share an exchange. A class,
/// since every request in mid-chain carries a reference to it.
package final class CallOwner: @unchecked Sendable {
    // @unchecked Sendable: set once, before others see it; reading a weak reference is safe from any thread.
    //
    // Weak: the caller keeps what it has sent, and whoever logs requests must not keep the caller.
    // No checks for exclusivity, since nothing but the initializer writes to it.

    /// The caller, for as long as somebody keeps it.
    @exclusivity(unchecked) package private(set) weak var caller: (any Caller)?

    /// Makes the owner of the requests of a caller.
    package init(_ caller: any Caller) { self.caller = caller }

    /// Tells the caller of an attempt.
    func note(_ attempts: [AttemptRecord]) { caller?.note(attempts) }
}
