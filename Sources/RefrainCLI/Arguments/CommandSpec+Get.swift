extension CommandSpec {
    static let get = CommandSpec(
        name: .get,
        summary: "fetch URLs reliably",
        forms: ["[options] URL…", "[options] --from FILE|-"],
        groups: [
            Group(
                title: "The request",
                options: [
                    OptionSpec(
                        .request,
                        short: "X",
                        aliases: ["method"],
                        .required("METHOD"),
                        "The method. Default: GET, and POST with -d.",
                        choices: OptionSpec.methods
                    ),
                    OptionSpec(.header, short: "H", .required("'NAME: VALUE'"), "A header field; may be repeated."),
                    OptionSpec(
                        .data,
                        short: "d",
                        .required("DATA"),
                        "The body; @FILE takes a file as it is, @- standard input. Repeats are joined by &."
                    ),
                    OptionSpec(
                        .from,
                        .required("FILE|-"),
                        "A list of URLs, one a line; blank lines and lines that begin with # do not count."
                    ),
                ]
            ),
            Group(
                title: "Where the content goes",
                options: [
                    OptionSpec(
                        .output,
                        short: "o",
                        .required("FILE"),
                        "Write it to a file, which is whole or not there. An answer without a content (304, or one to HEAD) leaves it as it was."
                    ),
                    OptionSpec(
                        .outputDir,
                        .required("DIR"),
                        "Write each URL's to a file of its own in this folder, made if it is missing."
                    ),
                    OptionSpec(
                        .maxBody,
                        .required("SIZE"),
                        "Refuse larger contents. Default: no limit, but 64MiB where they are kept in memory: for several URLs on "
                            + "standard output, and for methods other than GET."
                    ),
                    OptionSpec(
                        .report,
                        .required("FILE|-"),
                        "Write one JSON object a line for each request, with every attempt. URLs stand in it without passwords."
                    ),
                ]
            ),
            Group(
                title: "Trying again",
                options: Group.schedule + Group.answers + [
                    OptionSpec(
                        .timeout,
                        .required("D"),
                        "The time for each try. Default: no limit, but 10s to connect and 60s of silence."
                    ),
                    OptionSpec(
                        .deadline,
                        .required("D"),
                        "The time for each request, all its tries, waits and redirects together."
                    ),
                    OptionSpec(
                        .replayUnsafe,
                        .none,
                        "Send POST and the like again, too, whatever may have happened to the first copy."
                    ),
                    OptionSpec(
                        .idempotencyKey,
                        .optional("KEY"),
                        "Send an Idempotency-Key, a new one for each request unless given; it makes POST safe to send again."
                    ),
                    OptionSpec(
                        .noBudget,
                        .none,
                        "Do not limit how many retries an origin gets. By default they wait for their turn."
                    ),
                ]
            ),
            Group(
                title: "The network",
                options: [
                    OptionSpec(
                        .concurrency,
                        short: "c",
                        .required("N"),
                        "How many requests run at a time, as far as files may be open for them. Default: 8."
                    ),
                    OptionSpec(.noLocation, .none, "Do not follow redirects."),
                    OptionSpec(.cacert, .required("FILE"), "Trust the authorities in this PEM file, and no others."),
                    OptionSpec(.insecure, short: "k", .none, "Do not check certificates."),
                    OptionSpec(.proxy, short: "x", .required("URL"), "Go through this proxy."),
                ]
            ),
            Group(
                title: "What is shown",
                options: [
                    OptionSpec(.quiet, short: "q", .none, "Show neither progress nor failures."),
                    OptionSpec(.verbose, short: "v", .none, "Draw each request's attempts as a timeline."),
                    OptionSpec(
                        .timelineSVG,
                        .required("FILE"),
                        "Draw the attempts of one request as a picture for a browser."
                    ),
                ]
            ),
        ],
        notes: [
            "Durations are written 250ms, 1.5s, 2m or 1h; sizes 500B, 64KB, 10MB (thousands) or 64KiB, 10MiB (1024s).",
            "One URL without -o goes to standard output. The first megabyte is held back, so that a content that is cut short "
                + "can be fetched again unseen; beyond it a cut goes on by Range or ends in an error, and no byte is printed "
                + "twice. Several URLs without --output-dir are printed one after the other, each one whole, in their order; "
                + "one that fails is left out. With --report - standard output is the report's, and contents without a file are dropped.",
            "An answer of status 400 or more is a failure: its content is not written.",
            "Exit status: 0 all well, 22 a final status of 400 or more, 1 a transport failure (also when others ended "
                + "with a status), 2 wrong usage, 129 the terminal went away, 130 interrupted.",
        ],
        examples: [
            ("refrain get https://example.com/data.csv -o data.csv", "one file, whole or not there"),
            (
                "refrain get --from urls.txt --output-dir out --concurrency 64 --report r.jsonl",
                "many, with a record of every attempt"
            ),
            (
                "refrain get -d @order.json --idempotency-key https://example.com/orders",
                "a POST that can be repeated safely"
            ),
        ]
    )
}
