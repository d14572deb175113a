/// The exit statuses of `refrain`.
enum ExitStatus: Int32, Sendable, CaseIterable {
    /// All is well.
    case success = 0
    /// A transport failure, or an output that could not be written to its end.
    case failure = 1
    /// Wrong usage: nothing was done.
    case usage = 2
    /// A final status of 400 or more.
    case httpError = 22
    /// The terminal went away.
    case hungUp = 129
    /// Interrupted by a signal.
    case interrupted = 130

    /// What it says, in a phrase.
    var meaning: String {
        switch self {
        case .success: "all is well"
        case .failure:
            "a transport failure (also when others ended with a status), or an output that could not be written"
        case .usage: "wrong usage: nothing was done"
        case .httpError: "a final status of 400 or more"
        case .hungUp: "the terminal went away"
        case .interrupted: "interrupted by a signal"
        }
    }
}
