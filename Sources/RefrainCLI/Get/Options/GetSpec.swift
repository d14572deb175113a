// SPDX-License-Identifier: Apache-2.0
extension CommandSpec {
    static let get = CommandSpec(
        name: .get,
        summary: "fetch URLs reliably",
        forms: ["[options] URL…", "[options] --from FILE|-"],
        groups: [
            Group(
                title: "The request",
                category: "request",
                options: [
                    OptionSpec(
                        .request,
                        short: "X",
                        aliases: ["method"],
                        .required("METHOD"),
                        "Use this method. Default: GET, or POST with -d.",
                        choices: OptionSpec.methods
                    ),
                    OptionSpec(
                        .header,
                        short: "H",
                        .required("'NAME: VALUE'"),
                        "Send this header field; may be repeated. 'NAME:' omits a field that would be sent, 'NAME;' sends one without a value."
                    ),
                    OptionSpec(
                        .data,
                        short: "d",
                        aliases: ["data-ascii"],
                        .required("DATA"),
                        "Send this body with POST. @FILE reads a file and drops its line ends, as curl does; --data-binary keeps them. @- is standard input. Repeats are joined with &."
                    ),
                    OptionSpec(
                        .from,
                        .required("FILE|-"),
                        "Read a list of requests, one per line: a URL, or a JSON object with url and optionally method, headers, body or bodyFile, "
                            + "output and key. Blank lines and lines that begin with # are ignored. From a pipe (-), each request starts as soon as its line arrives; "
                            + "invalid lines are reported and skipped."
                    ),
                ]
            ),
            Group.curlRequest, Group.secrets,
            Group(
                title: "Where the response goes",
                category: "output",
                options: [
                    OptionSpec(
                        .output,
                        short: "o",
                        .required("FILE"),
                        "Save the response to a file, atomically: complete or not at all. A response without a body (304, or one to HEAD) leaves the file as it was. "
                            + "The first -o is for the first URL, and so on; with --output-dir the file is in that folder."
                    ),
                    OptionSpec(
                        .outputDir,
                        .required("DIR"),
                        "Save each URL to its own file in this folder, in a tree by host and path. "
                            + "The folder also keeps the state of the list, for the next run. With -o or -O, the folder of their files."
                    ),
                    OptionSpec(
                        .flat,
                        .none,
                        "With --output-dir, use no subfolders, but names that end in a digest of the URL."
                    ),
                    OptionSpec(
                        .continue,
                        short: "C",
                        aliases: ["continue-at"],
                        .none,
                        "Keep the partial file of a failed download, and resume from it in the next run if the file has not changed on the server, which needs a strong ETag or date. "
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
                        "Download N parts of a file at once, if the server supports ranges and has a strong ETag or date. Each part is retried alone, and the next run fetches "
                            + "what is missing. --limit-rate applies to each part. Default: 1."
                    ),
                    OptionSpec(
                        .sha256,
                        .required("HEX"),
                        "Fail, and leave no file, unless the file has this SHA-256. A digest that the server sends with it (Repr-Digest, Content-Digest) is "
                            + "always checked."
                    ),
                    OptionSpec(
                        .checksumFile,
                        .required("FILE"),
                        "Check several files against a list from sha256sum or sha512sum, which must name each of them."
                    ),
                    OptionSpec(
                        .state,
                        .required("FILE"),
                        "Record the result of each request in this file: the same command again skips what is done, resumes what is partial and "
                            + "repeats what failed. Default with --output-dir: .refrain.sqlite in that folder. With postgres://HOST/DATABASE runs on several machines "
                            + "share it: each request is sent by one of them, and what one had claimed that was killed is taken up when --lease is over. "
                            + "While the database is away, for up to a minute, they send nothing and try to reach it."
                    ),
                    OptionSpec(
                        .queue,
                        .required("NAME"),
                        "With --state postgres://…: the queue that keeps the requests, for lists that have nothing to do with each other. Default: default."
                    ),
                    OptionSpec(
                        .lease,
                        .required("D"),
                        "With --state postgres://…: how long a claim lasts that its run does not renew, as one that was killed. Default: 30s."
                    ),
                    OptionSpec(
                        .refresh,
                        .none,
                        "Check files that are done for changes; unchanged ones are not sent again."
                    ),
                ] + Group.curlFiles + [
                    OptionSpec(
                        .maxBody,
                        .required("SIZE"),
                        "Fail if a response is larger. Default: no limit, except 64MiB where bodies are kept in memory: for several URLs on "
                            + "standard output, and for methods other than GET."
                    ),
                    OptionSpec(
                        .report,
                        .required("FILE|-"),
                        "Write a line of JSON for each request, with the fields of request and response and every attempt. Passwords and tokens are left out."
                    ),
                ]
            ),
            Group(
                title: "Retrying",
                category: "retry",
                options: Group.commandSchedule + Group.curlRetries + Group.answers + [
                    OptionSpec(
                        .timeout,
                        .required("D"),
                        "Limit the time of each attempt. Default: no limit, except 10s to connect and 60s of silence."
                    ),
                    OptionSpec(
                        .deadline,
                        .required("D"),
                        "Limit the time of each request, including all attempts, waits and redirects. The wait for --pace "
                            + "and for the server's room before the first attempt does not count."
                    ),
                    OptionSpec(
                        .replayUnsafe,
                        .none,
                        "Also retry POST and the like, even if the server may already have processed the request."
                    ),
                    OptionSpec(
                        .idempotencyKey,
                        .optional("KEY"),
                        "Send an Idempotency-Key, a new one for each request unless given: --idempotency-key=KEY, which is sent in quotation marks, as the draft of its standard has it. It says that the server does a request with a key once, which makes POST safe to send again."
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
                        "Send requests again whose outcome an earlier run could not learn."
                    ),
                    OptionSpec(
                        .noBudget,
                        .none,
                        "Do not limit the rate of retries to a server. By default retries wait until the budget allows them."
                    ),
                ]
            ),
            Group.polling,
            Group(
                title: "The network",
                category: "network",
                options: [
                    OptionSpec(
                        .concurrency,
                        short: "j",
                        otherShort: "P",
                        aliases: ["parallel-max"],
                        .required("N"),
                        "Run up to N requests at once. Default: 8; up to 64 with --pace; 1 with -c or -b FILE unless -Z is given, so that cookies of a response go with the next request."
                    ),
                    OptionSpec(.noLocation, .none, "Do not follow redirects."),
                    OptionSpec(
                        .publicOnly,
                        .none,
                        "Connect only to public addresses, also after redirects: for URLs that you do not trust. No proxy is used."
                    ),
                    OptionSpec(.proxy, short: "x", .required("URL"), "Use this proxy."),
                ] + Group.curlNetwork
            ),
            Group.pace, Group.tls,
            Group(
                title: "What is shown",
                category: "display",
                options: [
                    OptionSpec(.include, short: "i", .none, "Write the response's head before its body."),
                    OptionSpec(.head, short: "I", .none, "Use HEAD, and write the response's head."),
                    OptionSpec(
                        .dumpHeader,
                        short: "D",
                        .required("FILE|-"),
                        "Write the heads of the responses to a file."
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
                        "Also write the body of a response with a status of 400 or more. It never replaces a file that can be resumed (-C, --output-dir, --from). "
                            + "Without this option its first lines are shown on standard error."
                    ),
                    OptionSpec(.quiet, short: "q", .none, "Show neither progress, retries nor failures."),
                    OptionSpec(
                        .verbose,
                        short: "v",
                        .none,
                        "Show what is sent and received, as curl does: connection and TLS, the request's head, the heads of responses and each attempt. Passwords and tokens are blanked."
                    ),
                    OptionSpec(
                        .dryRun,
                        .none,
                        "Show what would be requested, from which host and with which policy; send nothing and write no file."
                    ),
                    OptionSpec(.timeline, .none, "Draw the attempts of each request as a timeline."),
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
            "One URL without -o goes to standard output. The first megabyte is held back, so that a body that is cut short "
                + "can be fetched again unseen; beyond it, or with -N, a cut goes on by Range or ends in an error, and no byte is printed "
                + "twice. Several URLs without --output-dir or an -o of their own are printed one after the other, each one whole, in their order; "
                + "one that fails is left out. With --report - standard output is the report's, and bodies without a file are dropped.",
            "A response with a status of 400 or more is a failure: its body is not written.",
            "The variables of --write-out: \(WriteOut.names.joined(separator: ", ")).",
            "A POST or PATCH of a list is sent again only if it carries an idempotency key (key in its line, or --idempotency-key), which the state has before it is sent: "
                + "the same command again sends the same one. Without a key one whose outcome nobody knows, such as a lost connection or a 502, ends as unknown: "
                + "the next run leaves it alone, and refrain status lists it.",
            "Exit status: 0 success, 22 a final status of 400 or more, 75 the server asked to come back later than the command goes on, 1 a transport failure (also when others "
                + "ended with a status), 2 wrong usage, 129 the terminal was closed, 130 interrupted, 131 ended by SIGQUIT, 143 ended by SIGTERM; the last four as a shell tells of the signal that ended it.",
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
        ],
        common: [
            .output, .remoteName, .outputDir, .from, .continue, .sha256, .request, .header, .data, .json, .form,
            .uploadFile, .user, .bearer, .head, .include, .insecure, .proxy, .concurrency, .limitRate, .retryFor,
            .attempts, .backoff, .retryStatus, .timeout, .deadline, .idempotencyKey, .until, .report, .writeOut,
            .verbose,
            .timeline, .silent, .dryRun, .pace,
        ]
    )
}
