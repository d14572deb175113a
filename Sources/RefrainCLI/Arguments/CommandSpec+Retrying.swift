extension CommandSpec.Group {
    /// The options that set a policy, shared by `get` and `explain`.
    static let schedule = [
        OptionSpec(.attempts, .required("N"), "Tries in all, the first one included. Default: 3."),
        OptionSpec(
            .backoff,
            .required("SCHEDULE"),
            "The waits between tries: exponential:BASE[:FACTOR[:CAP]], linear:BASE[:STEP[:CAP]], fibonacci:BASE[:CAP], "
                + "decorrelated:BASE[:CAP], constant:DELAY or none. Default: exponential:500ms:2:30s.",
            choices: ["exponential:", "linear:", "fibonacci:", "decorrelated:", "constant:", "none"]
        ),
        OptionSpec(
            .jitter,
            .required("KIND"),
            "How waits are spread: full, equal or none. Default: full, which draws from zero to the wait.",
            choices: ["full", "equal", "none"]
        ),
    ]

    /// The options that say which answers are tried again, and how far the server's wishes count.
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
