// SPDX-License-Identifier: Apache-2.0
extension CommandSpec.Group {
    /// Options with the meaning that curl's manual describes.
    static let curlRequest = CommandSpec.Group(
        title: "The request, in curl's words",
        category: "request",
        options: [
            OptionSpec(
                .json,
                .required("DATA"),
                "Post JSON, with its media type; @FILE reads a file. Repeats are joined as they are."
            ),
            OptionSpec(.dataRaw, .required("DATA"), "Like --data, but an @ has no special meaning."),
            OptionSpec(.dataBinary, .required("DATA"), "Like --data, but @FILE is sent unchanged."),
            OptionSpec(
                .dataUrlencode,
                .required("DATA"),
                "Like --data, but percent-encoded: TEXT, =TEXT, NAME=TEXT, @FILE or NAME@FILE."
            ),
            OptionSpec(.get, short: "G", .none, "Put the data into the query of the URL and use GET."),
            OptionSpec(
                .urlQuery,
                .required("DATA"),
                "Add this to the query, in the forms of --data-urlencode; text after a + is added unchanged."
            ),
            OptionSpec(
                .form,
                short: "F",
                .required("PART"),
                "Add a part to a form: NAME=TEXT, NAME=@FILE or NAME=<FILE, with ;type=T and ;filename=F."
            ),
            OptionSpec(.url, .required("URL"), "Fetch this URL; the same as an operand."),
            OptionSpec(.formString, .required("PART"), "Add a part to a form, NAME=TEXT, exactly as written."),
            OptionSpec(
                .uploadFile,
                short: "T",
                .required("FILE|-"),
                "Send this file with PUT; a URL that ends in a slash gets its name appended. Data from a pipe is stored on disk, not in memory."
            ),
            OptionSpec(.userAgent, short: "A", .required("TEXT"), "Send this User-Agent."),
            OptionSpec(
                .referer,
                short: "e",
                .required("URL"),
                "Send this Referer. URL;auto or ;auto sends the previous URL after a redirect."
            ),
            OptionSpec(
                .cookie,
                short: "b",
                .required("DATA|FILE"),
                "Send these cookies, NAME=VALUE; or read them from a file in Netscape's format, and keep those that servers set, as -c does."
            ),
            OptionSpec(
                .cookieJar,
                short: "c",
                .required("FILE"),
                "Keep cookies between requests, and write them to this file at the end. Requests run one after the other unless -j or -Z is given."
            ),
            OptionSpec(
                .compressed,
                .none,
                "Ask for a compressed response and decompress it. Such a download cannot be resumed."
            ),
            OptionSpec(.location, short: "L", .none, "Follow redirects. The default."),
            OptionSpec(.maxRedirs, .required("N"), "Follow at most N redirects. Default: 20."),
            OptionSpec(
                .proto,
                .required("LIST"),
                "Allow only these protocols: '=https' allows no other, '-http' excludes one. Also applies to redirects."
            ),
            OptionSpec(.protoRedir, .required("LIST"), "Like --proto, but only for redirects."),
            OptionSpec(
                .range,
                short: "r",
                .required("FROM-TO"),
                "Ask for part of the file: 0-499, 500- or -500. A server without ranges sends all of it."
            ),
            OptionSpec(
                .timeCond,
                short: "z",
                .required("DATE|FILE"),
                "Fetch only if the file is newer than a date or than a local file; with a - in front, only if it is older."
            ),
            OptionSpec(
                .etagCompare,
                .required("FILE"),
                "Fetch only if the ETag differs from the one in this file."
            ),
            OptionSpec(.etagSave, .required("FILE"), "Save the ETag of the response to this file."),
            OptionSpec(
                .globoff,
                short: "g",
                .none,
                "Treat brackets and braces in URLs literally. Otherwise curl's patterns, {a,b} and [1-9], are refused, because the shell can expand them."
            ),
        ]
    )

    /// Authentication.
    static let secrets = CommandSpec.Group(
        title: "Authentication",
        category: "auth",
        options: [
            OptionSpec(
                .user,
                short: "u",
                .required("USER[:PASSWORD]"),
                "Send Basic credentials. Without a password, you are asked for it on the terminal."
            ),
            OptionSpec(
                .netrc,
                short: "n",
                .none,
                "Take user and password for the host from ~/.netrc, if it exists."
            ),
            OptionSpec(.netrcFile, .required("FILE"), "Take user and password for the host from this file."),
            OptionSpec(.basic, .none, "Send Basic credentials with --user. The default."),
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
                "Use this client certificate: PEM, or PKCS #12 with its key."
            ),
            OptionSpec(.key, .required("FILE"), "Use this private key (PEM). Default: the file of --cert."),
            OptionSpec(.pass, .required("PASSWORD"), "The password of the private key or of the PKCS #12 file."),
        ]
    )

    /// TLS options.
    static let tls = CommandSpec.Group(
        title: "TLS",
        category: "tls",
        options: [
            OptionSpec(.cacert, .required("FILE"), "Trust only the certificate authorities in this PEM file."),
            OptionSpec(
                .capath,
                .required("DIR"),
                "Also trust the authorities in this folder, prepared with c_rehash."
            ),
            OptionSpec(.crlfile, .required("FILE"), "Reject the certificates that this list (PEM) revokes."),
            OptionSpec(
                .pinnedpubkey,
                .required("FILE|KEYS"),
                "Reject servers that have none of these keys: 'sha256//HASH;sha256//HASH', or a file with one (PEM, DER)."
            ),
            OptionSpec(.insecure, short: "k", .none, "Do not verify certificates."),
            OptionSpec(.tlsv1, short: "1", .none, "Use TLS 1.0 or newer, if the system's library supports it."),
            OptionSpec(.tlsv10, .none, "The same as --tlsv1."),
            OptionSpec(.tlsv11, .none, "Use TLS 1.1 or newer, if the system's library supports it."),
            OptionSpec(.tlsv12, .none, "Use TLS 1.2 or newer."),
            OptionSpec(.tlsv13, .none, "Use TLS 1.3 or newer."),
            OptionSpec(
                .tlsMax,
                .required("VERSION"),
                "Use at most this version of TLS: 1.0, 1.1, 1.2, 1.3 or default."
            ),
            OptionSpec(.ciphers, .required("LIST"), "Use these ciphers up to TLS 1.2, by OpenSSL's names."),
            OptionSpec(.tls13Ciphers, .required("LIST"), "Use these ciphers with TLS 1.3."),
            OptionSpec(.curves, .required("LIST"), "Use only these curves for the key exchange, such as X25519:P-256."),
        ]
    )

    static let curlFiles = [
        OptionSpec(
            .remoteName,
            short: "O",
            aliases: ["remote-name-all"],
            .none,
            "Save each file under the last part of its URL."
        ),
        OptionSpec(
            .remoteHeaderName,
            short: "J",
            .none,
            "With -O, use the name in Content-Disposition, unless a file of that name exists."
        ),
        OptionSpec(.noClobber, .none, "Never replace a file of -o or -O; add .1, .2 and so on to its name."),
        OptionSpec(.createDirs, .none, "Create missing folders of -o and -O."),
        OptionSpec(.remoteTime, short: "R", .none, "Set the date of files to that of Last-Modified."),
        OptionSpec(.maxFilesize, .required("SIZE"), "Like --max-body, with k, M and G for powers of 1024."),
        OptionSpec(
            .removeOnError,
            .none,
            "Remove the partial file of a failed download. The default for single files."
        ),
        OptionSpec(
            .noBuffer,
            short: "N",
            .none,
            "Write to standard output as bytes arrive. By default the first megabyte is held back, so that a body that is cut short can be fetched again."
        ),
    ]

    static let curlRetries = [
        OptionSpec(.retry, .required("N"), "Retry up to N times, waiting 1 s at first and doubling to 10 min."),
        OptionSpec(.retryDelay, .required("SECONDS"), "With --retry, wait this long between attempts."),
        OptionSpec(.retryMaxTime, .required("SECONDS"), "With --retry, start no attempt after this time."),
        OptionSpec(
            .retryAllErrors,
            .none,
            "Retry after any failure of the transfer and any status of 400 or more, if it is safe to send the request again."
        ),
        OptionSpec(.retryConnrefused, .none, "Retry after a refused connection. The default."),
        OptionSpec(
            .maxTime,
            short: "m",
            .required("SECONDS"),
            "Limit the time of each request, like --deadline. With --retry, --attempts, --retry-for, --retry-max-time or --deadline, limit the time of each attempt, like --timeout."
        ),
        OptionSpec(.connectTimeout, .required("SECONDS"), "Limit the time to connect, including TLS. Default: 10."),
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
            "Use no proxy for these hosts and their subdomains; * means all hosts. Default: the variable no_proxy."
        ),
        OptionSpec(.socks4, .required("HOST:PORT"), "Use this proxy, like --proxy socks4://HOST:PORT."),
        OptionSpec(
            .socks4a,
            .required("HOST:PORT"),
            "Use this proxy, which resolves names, like --proxy socks4a://HOST:PORT."
        ),
        OptionSpec(.socks5, .required("HOST:PORT"), "Use this proxy, like --proxy socks5://HOST:PORT."),
        OptionSpec(
            .socks5Hostname,
            .required("HOST:PORT"),
            "Use this proxy, which resolves names, like --proxy socks5h://HOST:PORT."
        ),
        OptionSpec(.interface, .required("NAME"), "Connect from this interface, address or host."),
        OptionSpec(
            .speedLimit,
            short: "Y",
            .required("N"),
            "End an attempt that receives fewer than N bytes per second for the time of --speed-time."
        ),
        OptionSpec(.speedTime, short: "y", .required("SECONDS"), "See --speed-limit. Defaults: 30 s, 1 B/s."),
        OptionSpec(
            .limitRate,
            .required("SPEED"),
            "Limit each transfer to this many bytes per second, such as 500k or 2M (1024s)."
        ),
        OptionSpec(.resolve, .required("HOST:PORT:ADDRESS"), "Use this address for the host; may be repeated."),
        OptionSpec(
            .connectTo,
            .required("HOST:PORT:HOST:PORT"),
            "Connect to this host and port instead; may be repeated."
        ),
        OptionSpec(.unixSocket, .required("FILE"), "Connect through this Unix socket."),
        OptionSpec(.ipv4, short: "4", .none, "Use only IPv4 addresses."),
        OptionSpec(.ipv6, short: "6", .none, "Use only IPv6 addresses."),
        OptionSpec(.http1, .none, "Use HTTP/1.1 even if the server supports HTTP/2."),
        OptionSpec(.http2, .none, "Use HTTP/2 over TLS if the server supports it. The default."),
        OptionSpec(
            .parallel,
            short: "Z",
            .none,
            "Run requests in parallel. The default without -c and -b FILE."
        ),
        OptionSpec(.parallelImmediate, .none, "The same as --parallel."),
        OptionSpec(.tcpNodelay, .none, "Send small pieces immediately. The default."),
    ]

    static let curlDisplay = [
        OptionSpec(.fail, short: "f", .none, "Fail on a status of 400 or more. The default."),
        OptionSpec(.silent, short: "s", .none, "Show neither progress, retries nor failures."),
        OptionSpec(.showError, short: "S", .none, "With -s, show failures."),
        OptionSpec(.failEarly, .none, "Stop after the first request that fails."),
        OptionSpec(.progressBar, short: "#", .none, "Show a progress line on a terminal. The default."),
        OptionSpec(.noProgressMeter, .none, "Show no progress."),
        OptionSpec(.disable, .none, "Read no options from ~/.curlrc. The default."),
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
        title: "Waiting for a response",
        category: "poll",
        options: [
            OptionSpec(
                .until,
                .required("CONDITION"),
                "Repeat the request until its status is in a list: 'STATUS in 200,404'. Such a status is a success, whatever it is. The waits are those of --backoff. "
                    + "Default: for 10m, unless --retry-for, --attempts or --deadline is given."
            ),
            OptionSpec(
                .untilJSON,
                .required("CONDITION"),
                "Repeat the request until a value in its JSON response compares: '.state == \"done\"', or '/items/0/count >= 3' with a JSON Pointer. "
                    + "The operators are ==, !=, <, <=, > and >=."
            ),
        ]
    )
}
