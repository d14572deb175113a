/// Options of wget, wget2 and aria2c that are not taken, and what to use.
extension OtherCommands {
    /// The meaning of letters of these commands that are refused as curl's.
    static let downloaderLetters: [Character: String] = [
        "a": "wget's -a FILE is 2>>FILE", "l": "refrain does not follow links in pages",
        "p": "refrain does not follow links in pages",
        "t": "wget's -t N is --attempts N",
    ]

    /// Refuses values that show that the letter of one of these commands was meant.
    static func checkLetters(_ arguments: Arguments) throws(UsageError) {
        if let text = arguments.last(.cookieJar), text.contains("://") {
            throw UsageError(
                "-c \(Sanitized.text(text)): -c takes the file of a cookie jar; -C goes on with a partial file"
            )
        }
        if let text = arguments.last(.data), text.contains("/"), Directory.kind(of: text) == .folder {
            throw UsageError(
                "-d \(Sanitized.text(text)): -d sends data, and this is a folder; --output-dir takes it for the files, "
                    + "and --data-raw sends the text"
            )
        }
        if let text = arguments.last(.concurrency), text.first?.isNumber == false, text.first != "-" {
            throw UsageError(
                "-P \(Sanitized.text(text)): -P and -j take the number of requests at a time; "
                    + "a folder is given by --output-dir"
            )
        }
        if let text = arguments.last(.uploadFile), ASCIINumber.whole(text) != nil, !Input.isThere(text) {
            throw UsageError(
                "-T \(text): -T sends a file, and there is none of this name; the time for an attempt is "
                    + "--timeout \(text)s"
            )
        }
    }

    /// A warning about data that may have been meant as the folder of aria2c's `-d DIR`; nil: none.
    static func remarkOnData(_ arguments: Arguments) -> String? {
        guard let text = arguments.last(.data), Directory.kind(of: text) == .folder else { return nil }
        return "-d \(Sanitized.text(text)) is sent as data; the folder of this name is meant by --output-dir"
    }

    /// An error about a word that is no URL, with a suggestion.
    static func explained(_ error: UsageError, _ word: String, _ arguments: Arguments) -> UsageError {
        guard !word.contains("://") else { return error }
        if arguments.has(.remoteName) { return UsageError("\(error). -O takes no name; -o NAME does") }
        if arguments.has(.include) { return UsageError("\(error). -i shows heads; a list is given by --from FILE") }
        return error
    }

    /// The replacement of an option of these commands, also in its form that begins with `no-`.
    static func downloaderAdvice(on name: String) -> String? {
        if let advice = advicePerOption[name] { return advice }
        let bare = name.hasPrefix("no-") ? String(name.dropFirst(3)) : name
        if let group = advicePerGroup.first(where: { $0.names.contains(bare) }) { return group.advice }
        return advicePerPrefix.first { bare.hasPrefix($0.prefix) }?.advice
    }

    private static let advicePerOption = [
        "background": "the shell (&) or systemd runs it in the background",
        "daemon": "the shell (&) or systemd runs it in the background",
        "body-file": "use -d @FILE", "post-file": "use -d @FILE",
        "cache": "no answer is kept", "no-cache": "use -H 'Cache-Control: no-cache'",
        "http-no-cache": "use -H 'Cache-Control: no-cache'",
        "check-hostname": "the name is checked, unless -k checks nothing",
        "no-check-hostname": "the name is checked, unless -k checks nothing",
        "conf-path": "use --config FILE", "no-conf": "options are read from --config FILE alone",
        "no-config": "options are read from --config FILE alone",
        "compression": "use --compressed", "content-disposition": "use -O -J",
        "content-disposition-default-utf8": "names are UTF-8",
        "cookies": "none are sent without -b, and none are kept without -c",
        "no-cookies": "none are sent without -b, and none are kept without -c",
        "keep-session-cookies": "use -c, which keeps these, too",
        "execute": "use the option itself, or --config FILE",
        "ignore-length": "a body that is shorter than its length was cut",
        "max-file-not-found": "use --retry-status +404",
        "max-overall-download-limit": "--limit-rate is for each transfer; with -j 1 it is for all of them",
        "no-netrc": "a netrc file is read with --netrc alone", "no-proxy": "use --noproxy '*'",
        "quota": "use --max-body, which is for each content", "start-pos": "use -r N-",
        "use-server-timestamps": "use -R",
        "no-use-server-timestamps": "files have the date of the server with -R alone",
    ]

    private static let advicePerGroup: [(names: Set<String>, advice: String)] = [
        (
            [
                "accept", "accept-regex", "backup-converted", "base", "convert-file-only", "convert-links",
                "cut-url-get-vars", "delete-after", "domains", "download-attr", "exclude-directories",
                "exclude-domains", "filter-mime-type", "filter-urls", "follow-sitemaps", "follow-tags", "force-atom",
                "force-css", "force-html", "force-metalink", "force-rss", "force-sitemap", "hyperlink", "ignore-case",
                "ignore-tags", "include-directories", "level", "mirror", "page-requisites", "parent", "recursive",
                "regex-type", "reject", "reject-regex", "rejected-log", "relative", "robots", "span-hosts",
                "strict-comments",
            ], "refrain does not follow links in pages; give each URL, or a list with --from"
        ),
        (
            [
                "adjust-extension", "allow-overwrite", "auto-file-renaming", "backups", "cut-dirs",
                "cut-file-get-vars", "default-page", "directories", "force-directories", "host-directories",
                "html-extension", "keep-extension", "protocol-directories", "restrict-file-names",
                "trust-server-names", "unlink",
            ],
            "--output-dir names files by host and path, with --flat in one folder, and -O by the end of the URL; "
                + "--no-clobber replaces none of -o and -O"
        ),
        (
            [
                "allow-piece-length-change", "always-resume", "auto-save-interval", "force-save",
                "keep-unfinished-download-result", "max-resume-failure-tries", "remove-control-file",
            ], "-C resumes if the file has not changed, and starts over otherwise"
        ),
        (
            [
                "append-output", "console-log-level", "debug", "download-result", "enable-color", "force-progress",
                "human-readable", "log", "log-level", "output-file", "report-speed", "show-console-readout",
                "show-progress", "summary-interval", "truncate-console-readout",
            ], "use -q, -v, --progress or 2>FILE; --report FILE has each request"
        ),
        (["ask-password", "use-askpass"], "-u USER asks for the password"),
        (["auth-no-challenge", "http-auth-challenge"], "credentials are sent with the first request"),
        (["http-passwd", "http-password", "http-user", "password"], "use -u USER:PASSWORD, or --netrc-file"),
        (
            [
                "all-proxy-passwd", "all-proxy-user", "http-proxy-passwd", "http-proxy-password", "http-proxy-user",
                "https-proxy-passwd", "https-proxy-user",
            ], "use --proxy-user USER:PASSWORD"
        ),
        (["certificate-type", "private-key-type"], "PEM and PKCS #12 are told apart by what they hold"),
        (
            [
                "check-integrity", "checksum", "gnupg-homedir", "hash-check-only", "realtime-chunk-checksum",
                "verify-save-failed", "verify-sig", "want-digest-header",
            ], "use --sha256 HEX or --checksum-file FILE"
        ),
        (
            ["chunk-size", "min-split-size", "piece-length", "stream-piece-selector"],
            "--segments N fetches N parts of a file at a time, of a megabyte at least"
        ),
        (["conditional-get", "if-modified-since"], "use -z FILE, or --refresh with --output-dir"),
        (["content-on-error", "save-content-on", "save-not-found"], "use --fail-with-body"),
        (["spider", "use-head"], "use -I"),
        (
            ["enable-http-keep-alive", "enable-http-pipelining", "http-keep-alive", "reuse-uri"],
            "connections are kept for further requests"
        ),
        (
            ["disk-cache", "enable-mmap", "file-allocation", "fsync-policy", "max-mmap-limit"],
            "a file grows as its content comes"
        ),
        (
            ["follow-ftp", "glob", "passive-ftp", "preserve-permissions", "remove-listing", "retr-symlinks"],
            "refrain supports only HTTP"
        ),
        (
            [
                "enable-peer-exchange", "enable-rpc", "follow-metalink", "follow-torrent", "force-sequential", "gid",
                "index-out", "input-metalink", "listen-port", "max-overall-upload-limit", "max-upload-limit",
                "parameterized-uri", "pause", "pause-metadata", "select-file", "show-files", "torrent-file",
            ], "BitTorrent, Metalink and remote control are no part of this; give URLs, or a list with --from"
        ),
        (["https-enforce", "https-only"], "use --proto '=https'"),
        (
            ["input-encoding", "iri", "local-encoding", "remote-encoding"],
            "URLs are UTF-8, or percent-encoded"
        ),
        (["min-tls-version", "secure-protocol"], "use --tlsv1.2, --tlsv1.3 or --tls-max"),
        (
            [
                "gnutls-options", "ocsp", "signature-extensions", "tls-false-start", "tls-resume", "tls-session-file",
            ], "TLS is that of the system's library"
        ),
        (["list-plugins", "local-db", "local-plugin", "plugin"], "there are no plugins and no database of servers"),
        (["random-wait", "wait"], "use --rate, such as --rate 1/s; -j is how many run at a time"),
        (["stop", "stop-with-process"], "use --deadline, or end the command by SIGTERM"),
        (
            [
                "deferred-input", "dscp", "event-poll", "file-allocation-limit", "max-download-result",
                "optimize-concurrent-downloads", "rlimit-nofile", "socket-recv-buffer-size", "uri-selector",
            ], "refrain chooses this itself; -j and --segments set the number of transfers"
        ),
        (["cookie-suffixes", "default-http-port", "default-https-port", "http2-request-window"], "it is fixed here"),
        (["save-session", "save-session-interval"], "the state of a list (--state) has what is done"),
        (["prefer-family"], "-4 and -6 choose one"),
    ]

    private static let advicePerPrefix = [
        (prefix: "ftps-", advice: "refrain supports only HTTP"), (prefix: "ssh-", advice: "refrain supports only HTTP"),
        (prefix: "async-dns", advice: "names are resolved by the system"),
        (prefix: "enable-async-dns", advice: "names are resolved by the system"),
        (prefix: "bt-", advice: "refrain does not support BitTorrent"),
        (prefix: "dht-", advice: "refrain does not support BitTorrent"),
        (prefix: "enable-dht", advice: "refrain does not support BitTorrent"),
        (prefix: "peer-", advice: "refrain does not support BitTorrent"),
        (prefix: "seed-", advice: "refrain does not support BitTorrent"),
        (prefix: "dns-", advice: "names are resolved by the system; --resolve sets an address"),
        (prefix: "hpkp", advice: "use --pinnedpubkey"),
        (prefix: "hsts", advice: "only cookies and the state of a list are kept between runs"),
        (prefix: "metalink-", advice: "use --segments and --sha256"),
        (prefix: "ocsp-", advice: "TLS is that of the system's library"),
        (prefix: "on-", advice: "a script sees the exit status, and each request in --report FILE"),
        (prefix: "plugin-", advice: "there are no plugins"),
        (prefix: "rpc-", advice: "refrain has no remote control"),
        (prefix: "server-stat-", advice: "nothing about servers is kept between runs"),
        (prefix: "stats-", advice: "use --report FILE"),
        (prefix: "warc-", advice: "--report FILE has the head of each answer"),
    ]
}
