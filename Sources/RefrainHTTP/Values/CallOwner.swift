/// Whoever requests of a chain are made for: it hears of their attempts, and its task is the one that they run in.
///
/// It says nothing of how a request is to be treated: requests that differ in it alone may share an exchange.
package protocol CallOwner: AnyObject, Sendable {
    /// An attempt was decided on; `attempts` are all of the retry stage's, this one the last.
    func note(_ attempts: [AttemptRecord])

    /// What must live while the request is under way, since it is asked what follows a try; nil once it is gone.
    ///
    /// Its own task keeps it. An exchange that it shares may outlast that task, and has to keep it then.
    var caller: (any AnyObject & Sendable)? { get }

    /// Cancels the task in which the owner loads its request.
    func cancelTask()
}
