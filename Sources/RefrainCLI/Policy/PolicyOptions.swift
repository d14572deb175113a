// SPDX-License-Identifier: Apache-2.0
extension CommandSpec.Group {
    /// The options that set a policy, for `explain`.
    static let schedule = schedule(attempts: "Make at most N attempts, including the first.")

    /// The options that set a policy, for a command that limits its attempts by time.
    static let commandSchedule =
        schedule(
            attempts: "Make at most N attempts, including the first; one that goes on with a download after new bytes "
                + "have come is not counted. No limit by default, except --retry-for."
        ) + [
            OptionSpec(
                .retryFor,
                .required("D"),
                "Keep trying for this long while attempts fail; a download that makes progress restarts the time. "
                    + "Default: 1m without --attempts, and at least 3 attempts. A host name that does not exist is looked up 3 times."
            )
        ]

    private static func schedule(attempts: String) -> [OptionSpec] {
        [
            OptionSpec(.attempts, .required("N"), attempts),
            OptionSpec(
                .backoff,
                .required("SCHEDULE"),
                "The waits between attempts: exponential:BASE[:FACTOR[:CAP]], linear:BASE[:STEP[:CAP]], fibonacci:BASE[:CAP], "
                    + "decorrelated:BASE[:CAP], constant:DELAY or none. Default: exponential:500ms:2:8s.",
                choices: ["exponential:", "linear:", "fibonacci:", "decorrelated:", "constant:", "none"]
            ),
            OptionSpec(
                .jitter,
                .required("KIND"),
                "Randomize the waits: full, equal or none. Default: equal, which draws from half the wait to the wait; full, "
                    + "from zero, beside --backoff.",
                choices: ["full", "equal", "none"]
            ),
        ]
    }

    /// The options that say which answers are tried again, and how far the server's delays are honoured.
    static let answers = [
        OptionSpec(
            .retryStatus,
            .required("LIST"),
            "Retry on these statuses, such as 500,502-504; with a plus sign before the list, in addition to "
                + "the usual ones."
        ),
        OptionSpec(.ignoreRetryAfter, .none, "Ignore Retry-After and rate-limit fields."),
        OptionSpec(
            .maxServerDelay,
            .required("D"),
            "Accept waits of up to this long from the server; a longer one ends the request. Default: 5m."
        ),
    ]
}
