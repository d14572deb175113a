// SPDX-License-Identifier: Apache-2.0
/// The exit statuses of `refrain`.
enum ExitStatus: Int32, Sendable, CaseIterable {
    /// Success.
    case success = 0
    /// A transport failure, or an output that could not be written to its end.
    case failure = 1
    /// Wrong usage; nothing was done.
    case usage = 2
    /// A final status of 400 or more.
    case httpError = 22
    /// The delay of the server is longer than allowed: EX_TEMPFAIL of sysexits.h.
    case retryAfterTooLong = 75
    /// The terminal was closed.
    case hungUp = 129
    /// Interrupted by the user, with SIGINT.
    case interrupted = 130
    /// Ended by the user, with SIGQUIT.
    case quit = 131
    /// Ended by SIGTERM.
    case terminated = 143

    /// Whether a signal has ended the command.
    var isSignal: Bool { rawValue > 128 }

    /// The meaning, in a phrase.
    var meaning: String {
        switch self {
        case .success: "success"
        case .failure:
            "a transport failure (also when others ended with a status), an output that could not be written, or a database "
                + "that was out of reach"
        case .usage: "wrong usage: nothing was done"
        case .httpError: "a final status of 400 or more"
        case .retryAfterTooLong: "the server asked to come back later than the command may wait, and said when"
        case .hungUp: "the terminal was closed"
        case .interrupted: "interrupted (SIGINT)"
        case .quit: "ended by the user (SIGQUIT)"
        case .terminated: "ended by SIGTERM"
        }
    }
}
