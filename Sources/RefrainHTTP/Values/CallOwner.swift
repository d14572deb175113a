/// Whoever requests of a chain are made for: it hears of their attempts, and its task is the one that they run in.
///
/// It says nothing of how a request is to be treated: requests that differ in it alone may share an exchange.
package protocol CallOwner: AnyObject, Sendable {
    /// An attempt was decided on; `attempts` are all of the retry stage's, this one the last.
    func note(_ attempts: [AttemptRecord])

    /// Cancels the task in which the owner loads its request.
    func cancelTask()
}
