// SPDX-License-Identifier: Apache-2.0
extension CommandSpec {
    static let simulate = CommandSpec(
        name: .simulate,
        summary: "see in virtual time what retries do to a service that many clients share",
        forms: ["[--policy NAME]… [--fleet N,…] [options]"],
        groups: [
            Group(
                title: "Clients",
                options: [
                    OptionSpec(
                        .policy,
                        .required("NAME|FILE"),
                        "A policy, or a file of JSON that describes one; may be repeated. Default: none, immediate and "
                            + "recommended.",
                        choices: SimulatedPolicy.Name.allCases.map(\.rawValue)
                    ),
                    OptionSpec(
                        .fleet,
                        .required("N,…"),
                        "The number of clients, which share nothing but the server; several numbers are simulated one "
                            + "after the other. Default: 1000."
                    ),
                    OptionSpec(.load, .required("N"), "The calls per second of all clients together. Default: 40."),
                    OptionSpec(
                        .pace,
                        .required("LIMITS"),
                        "What all clients together send at most: 50/s, 500/m, or 500/m,200000t/m with tokens. Retries "
                            + "count. Default: no limit."
                    ),
                    OptionSpec(
                        .cost,
                        .required("N"),
                        "The tokens that each request takes of a model API's limit and of --pace."
                    ),
                    OptionSpec(.timeout, .required("D"), "The time that a client waits for an answer. Default: 3s."),
                ]
            ),
            Group(
                title: "What is called, and what hits it",
                options: [
                    OptionSpec(
                        .server,
                        .required("SERVER"),
                        "\(StormText.servers.values.sorted().joined(separator: ", ")). Default: collapse:1s:10ms.",
                        choices: StormText.servers.keys.sorted().map { "\($0):" }
                    ),
                    OptionSpec(
                        .backend,
                        .required("SERVER"),
                        "A second server, which the first calls for each request."
                    ),
                    OptionSpec(
                        .backendPolicy,
                        .required("NAME|FILE"),
                        "The policy of the first server's calls to the second. Default: recommended."
                    ),
                    OptionSpec(
                        .trigger,
                        .required("TRIGGER"),
                        "\(StormText.triggers.values.sorted().joined(separator: ", ")); several are joined by plus signs. "
                            + "Default: spike:3:30s:5s.",
                        choices: StormText.triggers.keys.sorted().map { $0 == "none" ? $0 : "\($0):" }
                    ),
                    OptionSpec(.duration, .required("D"), "The virtual time. Default: 120s."),
                    OptionSpec(
                        .storm,
                        .required("FILE"),
                        "A file of JSON that describes the storm; options go before it."
                    ),
                ]
            ),
            Group(
                title: "What is shown",
                options: [
                    OptionSpec(.seed, .required("N"), "Where the random numbers come from. Default: 1."),
                    OptionSpec(.seeds, .required("N"), "How many seeds are simulated; the table has their spread."),
                    OptionSpec(
                        .findTrigger,
                        .none,
                        "Find how much longer, or shorter, the trigger must last for the service not to recover."
                    ),
                    OptionSpec(.svg, .required("FILE"), "Draw the policies side by side."),
                    OptionSpec(.html, .required("FILE"), "Write the picture and the table as one page."),
                    OptionSpec(.caption, .required("TEXT"), "A line below the picture's title."),
                    OptionSpec(.json, .none, "Write one line of JSON for each run."),
                    OptionSpec(.quiet, short: "q", .none, "Show the table alone."),
                ]
            ),
        ],
        notes: [
            "The clients are the very objects that production runs, on a virtual clock and one thread: the same seed gives "
                + "the same output. Sends a call is what retries multiply the load by; back after is the time from the "
                + "trigger's end until calls succeed as before.",
            "A storm's file has the members title, clients or fleet, load or callers and pause, pace, cost, server, "
                + "backend, backend_policy, trigger, duration, timeout, seed, seeds and policies. A policy is a name or an object of "
                + "name, criteria (recommended or alamofire), schedule, overload_schedule, jitter, attempts and budget "
                + "(standard, fleet, per-process, none, window:RATIO:PER_SECOND or tokens:CAPACITY:COST[:REFUND]).",
        ],
        examples: [
            ("refrain simulate", "a spike that retries turn into an outage, and the default that does not"),
            (
                "refrain simulate --policy recommended --policy aws2026 --fleet 1,10,100,1000",
                "the same load, split over more and more processes"
            ),
            (
                "refrain simulate --server model-api:600/m --pace 600/m --load 12 --trigger none",
                "clients that keep the limits of a model API"
            ),
            (
                "refrain simulate --server queue:10:50ms --load 150 --trigger outage:30s:60s --html storm.html",
                "a minute of outage, as a page"
            ),
        ]
    )
}
