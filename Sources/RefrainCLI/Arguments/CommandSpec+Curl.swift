extension CommandSpec.Group {
    /// Options with the meaning that curl's manual describes.
    static let curlRequest = CommandSpec.Group(
        title: "The request, in curl's words",
        options: [
            OptionSpec(
                .json,
                .required("DATA"),
                "Post JSON, with the media type of it; @FILE reads a file. Repeats are joined as they are."
            ),
            OptionSpec(.dataRaw, .required("DATA"), "As --data, but an @ means nothing."),
            OptionSpec(.dataBinary, .required("DATA"), "As --data: nothing is changed."),
            OptionSpec(
                .dataUrlencode,
                .required("DATA"),
                "As --data, percent-encoded: TEXT, =TEXT, NAME=TEXT, @FILE or NAME@FILE."
            ),
            OptionSpec(.get, short: "G", .none, "Send the data in the query of the URL, with GET."),
            OptionSpec(
                .urlQuery,
                .required("DATA"),
                "Add this to the query, in the forms of --data-urlencode; after a + as it is."
            ),
            OptionSpec(
                .form,
                short: "F",
                .required("PART"),
                "A part of a form: NAME=TEXT, NAME=@FILE or NAME=<FILE, with ;type=T and ;filename=F."
            ),
            OptionSpec(.url, .required("URL"), "A URL, the same as an operand."),
            OptionSpec(.formString, .required("PART"), "A part of a form, NAME=TEXT, taken as it is."),
            OptionSpec(
                .uploadFile,
                short: "T",
                .required("FILE|-"),
                "Send this file with PUT; a URL that ends in a slash takes its name. What comes through a pipe is put aside on the disk, not in memory."
            ),
            OptionSpec(.userAgent, short: "A", .required("TEXT"), "The User-Agent."),
            OptionSpec(
                .referer,
                short: "e",
                .required("URL"),
                "The Referer; URL;auto or ;auto: after a redirect, the URL that it comes from."
            ),
            OptionSpec(
                .cookie,
                short: "b",
                .required("DATA|FILE"),
                "Send these cookies, NAME=VALUE; or read them from a file in Netscape's form, and keep those of answers as -c does."
            ),
            OptionSpec(
                .cookieJar,
                short: "c",
                .required("FILE"),
                "Keep cookies between requests, and write them to this file at the end. Requests are made one after the other without -j or -Z."
            ),
            OptionSpec(
                .compressed,
                .none,
                "Ask for a compressed content, and undo that. Such a download cannot go on where it was cut."
            ),
            OptionSpec(.location, short: "L", .none, "Follow redirects, which is the default."),
            OptionSpec(.maxRedirs, .required("N"), "Follow so many redirects at most. Default: 20."),
            OptionSpec(
                .proto,
                .required("LIST"),
                "Fetch only by these protocols: '=https' allows no other one, '-http' rules one out. It holds for redirects, too."
            ),
            OptionSpec(.protoRedir, .required("LIST"), "As --proto, for redirects alone."),
            OptionSpec(
                .range,
                short: "r",
                .required("FROM-TO"),
                "Ask for a part of the content: 0-499, 500- or -500. A server without ranges sends all of it."
            ),
            OptionSpec(
                .timeCond,
                short: "z",
                .required("DATE|FILE"),
                "Ask only for a content that is newer than a date, or than a file; a - in front: for one that is older. Without such a file: for any."
            ),
            OptionSpec(
                .etagCompare,
                .required("FILE"),
                "Ask only for a content with another ETag than the one in this file, if there is one."
            ),
            OptionSpec(.etagSave, .required("FILE"), "Write the ETag of the content to this file."),
            OptionSpec(
                .globoff,
                short: "g",
                .none,
                "Take brackets and braces in URLs as they are. Without it patterns of curl, {a,b} and [1-9], are refused: the shell expands its own."
            ),
        ]
    )

    /// Authentication.
    static let secrets = CommandSpec.Group(
        title: "Authentication",
        options: [
            OptionSpec(
                .user,
                short: "u",
                .required("USER[:PASSWORD]"),
                "Send Basic credentials; without a password it is asked for on the terminal, without an echo."
            ),
            OptionSpec(
                .netrc,
                short: "n",
                .none,
                "Take user and password for the host from ~/.netrc, if there is such a file."
            ),
            OptionSpec(.netrcFile, .required("FILE"), "Take them from this file."),
            OptionSpec(.basic, .none, "Send Basic credentials with --user, which is the default."),
            OptionSpec(.bearer, aliases: ["oauth2-bearer"], .required("TOKEN|@FILE"), "Send a bearer token."),
            OptionSpec(
                .config,
                short: "K",
                .required("FILE|-"),
                "Read options from a file in curl's form: option = \"value\", one per line."
            ),
            OptionSpec(
                .cert,
                short: "E",
                .required("FILE[:PASSWORD]"),
                "The certificate of this client: PEM, or PKCS #12 with its key."
            ),
            OptionSpec(.key, .required("FILE"), "The key of the certificate (PEM). Default: the file of --cert."),
            OptionSpec(.pass, .required("PASSWORD"), "The password of the key, or of the file of PKCS #12."),
        ]
    )

    /// TLS options.
    static let tls = CommandSpec.Group(
        title: "TLS",
        options: [
            OptionSpec(.cacert, .required("FILE"), "Trust the authorities in this PEM file, and no others."),
            OptionSpec(
                .capath,
                .required("DIR"),
                "Trust the authorities in this folder, too, as c_rehash has prepared it."
            ),
            OptionSpec(.crlfile, .required("FILE"), "Refuse the certificates that this list (PEM) revokes."),
            OptionSpec(
                .pinnedpubkey,
                .required("FILE|KEYS"),
                "Refuse servers without one of these keys: 'sha256//HASH;sha256//HASH', or a file with one (PEM, DER)."
            ),
            OptionSpec(.insecure, short: "k", .none, "Do not check certificates."),
            OptionSpec(.tlsv1, short: "1", .none, "Speak TLS 1.0 or newer, if the system's library does."),
            OptionSpec(.tlsv10, .none, "As --tlsv1."),
            OptionSpec(.tlsv11, .none, "Speak TLS 1.1 or newer, if the system's library does."),
            OptionSpec(.tlsv12, .none, "Speak TLS 1.2 or newer."),
            OptionSpec(.tlsv13, .none, "Speak TLS 1.3 or newer."),
            OptionSpec(.tlsMax, .required("VERSION"), "Speak nothing newer: 1.0, 1.1, 1.2, 1.3 or default."),
            OptionSpec(.ciphers, .required("LIST"), "Use these ciphers up to TLS 1.2, in OpenSSL's words."),
            OptionSpec(.tls13Ciphers, .required("LIST"), "Use these ciphers with TLS 1.3."),
            OptionSpec(.curves, .required("LIST"), "Agree to keys by these curves only, such as X25519:P-256."),
        ]
    )

    static let curlFiles = [
        OptionSpec(
            .remoteName,
            short: "O",
            aliases: ["remote-name-all"],
            .none,
            "Write each content to a file named by the last part of its URL."
        ),
        OptionSpec(
            .remoteHeaderName,
            short: "J",
            .none,
            "With -O: by the name in Content-Disposition (filename*, else filename), unless such a file is there."
        ),
        OptionSpec(.noClobber, .none, "Replace no file of -o or -O: .1, .2 and so on are added to its name."),
        OptionSpec(.createDirs, .none, "Make the folders of -o and -O, where they are missing."),
        OptionSpec(.remoteTime, short: "R", .none, "Give files the date of Last-Modified."),
        OptionSpec(.maxFilesize, .required("SIZE"), "As --max-body, with k, M and G for powers of 1024."),
        OptionSpec(
            .removeOnError,
            .none,
            "Keep no partial file of a content that could not be fetched, which is the default for single files."
        ),
        OptionSpec(
            .noBuffer,
            short: "N",
            .none,
            "Pass a content on as it arrives: its first megabyte is not held back, and one that is cut short cannot be fetched again unseen."
        ),
    ]

    static let curlRetries = [
        OptionSpec(.retry, .required("N"), "Attempts after the first one, at waits of 1 s, doubling to 10 min."),
        OptionSpec(.retryDelay, .required("SECONDS"), "With --retry: the wait between attempts."),
        OptionSpec(.retryMaxTime, .required("SECONDS"), "With --retry: begin no attempt after this time."),
        OptionSpec(
            .retryAllErrors,
            .none,
            "Repeat after any failure, and after any status of 400 or more, as far as it is safe to send again."
        ),
        OptionSpec(.retryConnrefused, .none, "Repeat after a refused connection, which is the default."),
        OptionSpec(
            .maxTime,
            short: "m",
            .required("SECONDS"),
            "The time for each request, as --deadline; with --retry, --attempts, --retry-for, --retry-max-time or --deadline the time for each attempt, as --timeout."
        ),
        OptionSpec(.connectTimeout, .required("SECONDS"), "The time to connect, TLS included. Default: 10."),
    ]

    static let curlNetwork = [
        OptionSpec(
            .proxyUser,
            short: "U",
            .required("USER[:PASSWORD]"),
            "Send these Basic credentials to the proxy."
        ),
        OptionSpec(
            .noproxy,
            .required("HOSTS"),
            "Use no proxy for these hosts and their subdomains; * is all hosts. Default: those of the variable no_proxy."
        ),
        OptionSpec(.socks4, .required("HOST:PORT"), "Go through this proxy, as --proxy socks4://HOST:PORT."),
        OptionSpec(
            .socks4a,
            .required("HOST:PORT"),
            "Go through this proxy, which looks names up, as --proxy socks4a://HOST:PORT."
        ),
        OptionSpec(.socks5, .required("HOST:PORT"), "Go through this proxy, as --proxy socks5://HOST:PORT."),
        OptionSpec(
            .socks5Hostname,
            .required("HOST:PORT"),
            "Go through this proxy, which looks names up, as --proxy socks5h://HOST:PORT."
        ),
        OptionSpec(.interface, .required("NAME"), "Connect from this interface, address or host."),
        OptionSpec(
            .speedLimit,
            short: "Y",
            .required("N"),
            "End an attempt that receives less than so many bytes per second for the time of --speed-time."
        ),
        OptionSpec(.speedTime, short: "y", .required("SECONDS"), "See --speed-limit. Defaults: 30 s, 1 B/s."),
        OptionSpec(
            .limitRate,
            .required("SPEED"),
            "The bytes per second of each transfer, such as 500k or 2M (1024s)."
        ),
        OptionSpec(.rate, .required("N/U"), "Begin at most so many requests per s, m, h or d, such as 50/s."),
        OptionSpec(.resolve, .required("HOST:PORT:ADDRESS"), "Use this address for the host; may be repeated."),
        OptionSpec(
            .connectTo,
            .required("HOST:PORT:HOST:PORT"),
            "Connect to another host and port than the URL says; may be repeated."
        ),
        OptionSpec(.unixSocket, .required("FILE"), "Connect by this socket of the file system."),
        OptionSpec(.ipv4, short: "4", .none, "Use addresses of IPv4 only."),
        OptionSpec(.ipv6, short: "6", .none, "Use addresses of IPv6 only."),
        OptionSpec(.http1, .none, "Speak HTTP/1.1 also where the server would agree to HTTP/2."),
        OptionSpec(.http2, .none, "Speak HTTP/2 where TLS agrees to it, which is the default."),
        OptionSpec(
            .parallel,
            short: "Z",
            .none,
            "Make requests at the same time, which is the default without -c and -b FILE."
        ),
        OptionSpec(.parallelImmediate, .none, "As --parallel."),
        OptionSpec(.tcpNodelay, .none, "Send small pieces at once, which is the default."),
    ]

    static let curlDisplay = [
        OptionSpec(.fail, short: "f", .none, "Fail for a status of 400 or more, which is the default."),
        OptionSpec(.silent, short: "s", .none, "Show neither progress nor failures."),
        OptionSpec(.showError, short: "S", .none, "With -s: show failures."),
        OptionSpec(.failEarly, .none, "End with the first request that fails, and make no further ones."),
        OptionSpec(.progressBar, short: "#", .none, "Show a line on a terminal, which is the default."),
        OptionSpec(.noProgressMeter, .none, "Show no progress."),
        OptionSpec(.disable, .none, "Read no options from ~/.curlrc, which is the default."),
        OptionSpec(
            .progress,
            .required("KIND"),
            "auto (the default: a line on a terminal), json (one object per line on standard error) or none.",
            choices: ["auto", "json", "none"]
        ),
    ]
}

extension CommandSpec.Group {
    /// Waiting for an answer.
    static let polling = CommandSpec.Group(
        title: "Waiting for an answer",
        options: [
            OptionSpec(
                .until,
                .required("CONDITION"),
                "Ask again, at the waits of --backoff, until the status is one of a list: 'STATUS in 200,404'. Such a status is a success, whatever it is. Another answer is shown on standard error at the end, and not written. "
                    + "Default: for 10m; --retry-for, --attempts and --deadline set other limits."
            ),
            OptionSpec(
                .untilJSON,
                .required("CONDITION"),
                "Ask again until a value of the answer in JSON compares: '.state == \"done\"', or '/items/0/count >= 3' with a JSON Pointer. "
                    + "The operators are ==, !=, <, <=, > and >=."
            ),
        ]
    )
}
