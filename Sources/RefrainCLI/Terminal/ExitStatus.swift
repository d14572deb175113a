/// The exit statuses of `refrain`.
enum ExitStatus: Int32, Sendable {
    /// All is well.
    case success = 0
    /// A transport failure, or an output that could not be written to its end.
    case failure = 1
    /// Wrong usage: nothing was done.
    case usage = 2
    /// A final status of 400 or more.
    case httpError = 22
    /// Interrupted by a signal.
    case interrupted = 130
}
