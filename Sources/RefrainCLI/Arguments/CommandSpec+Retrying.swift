extension CommandSpec.Group {
    /// The options that set a policy, for `explain`.
    static let schedule = schedule(
        attempts: "Attempts in all, the first one included. Default: 3.",
        backoff: "exponential:500ms:2:30s",
        jitter: "full, which draws from zero to the wait"
    )

    /// The options that set a policy, for a command that limits its attempts by time.
    static let commandSchedule =
        schedule(
            attempts: "Attempts in all, the first one included. Default: no limit but --retry-for.",
            backoff: "exponential:500ms:2:8s",
            jitter: "equal, which draws from half the wait to the wait; full, from zero, beside --backoff"
        ) + [
            OptionSpec(
                .retryFor,
                .required("D"),
                "How long attempts may fail before no further one begins; a download that goes on begins the time anew. "
                    + "Default: 1m without --attempts, and at least 3 attempts. A host name that is not found is asked for 3 times."
            )
        ]

    private static func schedule(attempts: String, backoff: String, jitter: String) -> [OptionSpec] {
        [
            OptionSpec(.attempts, .required("N"), attempts),
            OptionSpec(
                .backoff,
                .required("SCHEDULE"),
                "The waits between attempts: exponential:BASE[:FACTOR[:CAP]], linear:BASE[:STEP[:CAP]], fibonacci:BASE[:CAP], "
                    + "decorrelated:BASE[:CAP], constant:DELAY or none. Default: \(backoff).",
                choices: ["exponential:", "linear:", "fibonacci:", "decorrelated:", "constant:", "none"]
            ),
            OptionSpec(
                .jitter,
                .required("KIND"),
                "How waits are spread: full, equal or none. Default: \(jitter).",
                choices: ["full", "equal", "none"]
            ),
        ]
    }

    /// The options that say which answers are tried again, and how far the server's delays are honoured.
    static let answers = [
        OptionSpec(
            .retryStatus,
            .required("LIST"),
            "The statuses that are tried again, such as 500,502-504; with a plus sign before the list, these besides "
                + "the usual ones."
        ),
        OptionSpec(.ignoreRetryAfter, .none, "Do not look at Retry-After and rate-limit fields."),
        OptionSpec(
            .maxServerDelay,
            .required("D"),
            "The longest wait that a server may ask for; a longer one ends the request. Default: 5m."
        ),
    ]
}
