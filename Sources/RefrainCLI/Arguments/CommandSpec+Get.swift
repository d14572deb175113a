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
                    OptionSpec(
                        .header,
                        short: "H",
                        .required("'NAME: VALUE'"),
                        "A header field; may be repeated. 'NAME:' leaves out one that would be sent, and 'NAME;' sends one without a value."
                    ),
                    OptionSpec(
                        .data,
                        short: "d",
                        aliases: ["data-ascii"],
                        .required("DATA"),
                        "The body; @FILE takes a file as it is, @- standard input. Repeats are joined by &."
                    ),
                    OptionSpec(
                        .from,
                        .required("FILE|-"),
                        "A list of requests, one per line: a URL, or a JSON object with url and optionally method, headers, body or bodyFile, "
                            + "output and key. Blank lines and lines that begin with # do not count. From a pipe (-) the first is made as soon as its line is there; "
                            + "a line that cannot be used is reported and left out."
                    ),
                ]
            ),
            Group.curlRequest, Group.secrets,
            Group(
                title: "Where the content goes",
                options: [
                    OptionSpec(
                        .output,
                        short: "o",
                        .required("FILE"),
                        "Write it to a file, atomically: complete or not at all. An answer without a content (304, or one to HEAD) leaves it as it was. "
                            + "The first -o is for the first URL, and so on; with --output-dir the file is within that folder."
                    ),
                    OptionSpec(
                        .outputDir,
                        .required("DIR"),
                        "Write each URL's to a file of its own in this folder, in a tree by host and path; folders are made if they are missing. "
                            + "The name depends on the URL alone. The folder keeps the state of the list. With -o or -O it is where their files are."
                    ),
                    OptionSpec(.flat, .none, "With --output-dir: no tree, but names that end in a digest of the URL."),
                    OptionSpec(
                        .continue,
                        short: "C",
                        .none,
                        "Keep a partial file beside its target, and go on from the one of an earlier run, if the content is still the same; this takes a strong validator of the server. "
                            + "On by default with --output-dir and --from."
                    ),
                    OptionSpec(
                        .ignoreQuery,
                        .required("NAMES"),
                        "Parameters of a query that name no other object, separated by commas, such as token,expires: a URL that differs in them alone is the same file of a list, "
                            + "and goes on with its partial file. The signatures of the common object stores are known."
                    ),
                    OptionSpec(
                        .segments,
                        .required("N"),
                        "Fetch so many parts of a file at a time, where the server has ranges and a strong validator: each is repeated alone, and another run goes on "
                            + "with what is missing. --limit-rate is for each of them. Default: one piece."
                    ),
                    OptionSpec(
                        .sha256,
                        .required("HEX"),
                        "Fail, and leave no file, unless the content has this SHA-256. A digest that the server sends with a file (Repr-Digest, Content-Digest) is "
                            + "compared in any case."
                    ),
                    OptionSpec(
                        .checksumFile,
                        .required("FILE"),
                        "The same for several files, by a list of sha256sum or sha512sum: the name of each file must be in it."
                    ),
                    OptionSpec(
                        .state,
                        .required("FILE"),
                        "Keep in this file what has become of each request: the same command again skips what is done, goes on with what is partial, and "
                            + "repeats what failed. Default with --output-dir: .refrain.sqlite in it."
                    ),
                    OptionSpec(
                        .refresh,
                        .none,
                        "Revalidate the requests that are done; an unchanged content is not sent again."
                    ),
                ] + Group.curlFiles + [
                    OptionSpec(
                        .maxBody,
                        .required("SIZE"),
                        "Refuse larger contents. Default: no limit, but 64MiB where they are kept in memory: for several URLs on "
                            + "standard output, and for methods other than GET."
                    ),
                    OptionSpec(
                        .report,
                        .required("FILE|-"),
                        "Write one JSON object per line for each request, with its headers and every attempt, and without passwords and tokens."
                    ),
                ]
            ),
            Group(
                title: "Trying again",
                options: Group.commandSchedule + Group.curlRetries + Group.answers + [
                    OptionSpec(
                        .timeout,
                        .required("D"),
                        "The time for each attempt. Default: no limit, but 10s to connect and 60s of silence."
                    ),
                    OptionSpec(
                        .deadline,
                        .required("D"),
                        "The time for each request, all its attempts, waits and redirects together."
                    ),
                    OptionSpec(
                        .replayUnsafe,
                        .none,
                        "Send POST and the like again, too, whatever may have happened to the first copy."
                    ),
                    OptionSpec(
                        .idempotencyKey,
                        .optional("KEY"),
                        "Send an Idempotency-Key, a new one for each request unless given. It says that the server does a request with a key once, which makes POST safe to send again."
                    ),
                    OptionSpec(
                        .idempotencyKeyField,
                        .required("NAME"),
                        "Send keys in this header field. Default: Idempotency-Key."
                    ),
                    OptionSpec(
                        .keyLifetime,
                        .required("D"),
                        "How long the server remembers a key. A request that has not succeeded by then is unknown, and is not sent again. Default: 24h."
                    ),
                    OptionSpec(
                        .resendUnknown,
                        .none,
                        "Send the requests again of which an earlier run could not know whether the server has done them."
                    ),
                    OptionSpec(
                        .noBudget,
                        .none,
                        "Do not limit how many retries an origin gets. By default retries wait until the budget allows them."
                    ),
                ]
            ),
            Group.polling,
            Group(
                title: "The network",
                options: [
                    OptionSpec(
                        .concurrency,
                        short: "j",
                        otherShort: "P",
                        aliases: ["parallel-max"],
                        .required("N"),
                        "How many requests run at a time, as far as files may be open for them. Default: 8, and 1 with -c or -b FILE without -Z, so that the cookies of an answer go with the next request."
                    ),
                    OptionSpec(.noLocation, .none, "Do not follow redirects."),
                    OptionSpec(
                        .publicOnly,
                        .none,
                        "Connect to public addresses only, also after redirects: for URLs from others. No proxy is used."
                    ),
                    OptionSpec(.proxy, short: "x", .required("URL"), "Go through this proxy."),
                ] + Group.curlNetwork
            ),
            Group.tls,
            Group(
                title: "What is shown",
                options: [
                    OptionSpec(.include, short: "i", .none, "Write the head of the answer in front of its content."),
                    OptionSpec(.head, short: "I", .none, "Ask with HEAD, and write the head of the answer."),
                    OptionSpec(
                        .dumpHeader,
                        short: "D",
                        .required("FILE|-"),
                        "Write the heads of the answers to a file."
                    ),
                    OptionSpec(
                        .writeOut,
                        short: "w",
                        .required("FORMAT"),
                        "Write a text after each request, with curl's variables: %{http_code}, %{size_download}, %{time_total}, %{header_json}, %header{NAME} …; "
                            + "@FILE reads the text from a file."
                    ),
                    OptionSpec(
                        .failWithBody,
                        .none,
                        "Write the content of an answer of status 400 or more, too; of files that can be continued (-C, --output-dir, --from) it replaces none, whole or partial. "
                            + "Where it is not written, a short text is shown on standard error."
                    ),
                    OptionSpec(.quiet, short: "q", .none, "Show neither progress nor failures."),
                    OptionSpec(.verbose, short: "v", .none, "Draw each request's attempts as a timeline."),
                    OptionSpec(
                        .timelineSVG,
                        .required("FILE"),
                        "Draw the attempts of one request as a picture for a browser."
                    ),
                ] + Group.curlDisplay
            ),
        ],
        notes: [
            "Durations are written 250ms, 1.5s, 2m or 1h; sizes 500B, 64KB, 10MB (thousands) or 64KiB, 10MiB (1024s).",
            "One URL without -o goes to standard output. The first megabyte is held back, so that a content that is cut short "
                + "can be fetched again unseen; beyond it, or with -N, a cut goes on by Range or ends in an error, and no byte is printed "
                + "twice. Several URLs without --output-dir or an -o of their own are printed one after the other, each one whole, in their order; "
                + "one that fails is left out. With --report - standard output is the report's, and contents without a file are dropped.",
            "An answer of status 400 or more is a failure: its content is not written.",
            "The variables of --write-out: \(WriteOut.names.joined(separator: ", ")).",
            "A POST or PATCH of a list is sent again only if it carries an idempotency key (key in its line, or --idempotency-key), which the state has before it is sent: "
                + "the same command again sends the same one. Without a key one whose outcome nobody knows, such as a lost connection or a 502, ends as unknown: "
                + "the next run leaves it alone, and refrain status lists it.",
            "Exit status: 0 all well, 22 a final status of 400 or more, 75 the server asked to come back later than the command goes on, 1 a transport failure (also when others "
                + "ended with a status), 2 wrong usage, 129 the terminal went away, 130 interrupted, 131 ended by SIGQUIT, 143 ended by SIGTERM; the last four as a shell tells of the signal that ended it.",
        ],
        examples: [
            ("refrain get https://example.com/data.csv -o data.csv", "one file, written atomically"),
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
