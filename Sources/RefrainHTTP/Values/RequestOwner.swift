/// The owner of an in-flight request: the task that the request runs in is its own.
@usableFromInline
package protocol RequestOwner: AnyObject, Sendable {
    /// Cancels the task that the request runs in.
    func cancelTask()
}
