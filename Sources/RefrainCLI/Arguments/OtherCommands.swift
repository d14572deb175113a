// SPDX-License-Identifier: Apache-2.0
/// Unsupported options of other commands: their names here, or what to use instead.
enum OtherCommands {
    /// Other names of the same options; `--attempts` includes the first attempt.
    static let names = [
        "retries": "retry", "max-retries": "retry", "tries": "attempts",
        "max-tries": "attempts", "max-concurrent-downloads": "concurrency", "max-threads": "concurrency",
        "input-file": "from", "output-document": "output", "directory-prefix": "output-dir", "dir": "output-dir",
        "post-data": "data", "body-data": "data", "no-check-certificate": "insecure",
        "ca-certificate": "cacert", "load-cookies": "cookie", "save-cookies": "cookie-jar", "wait-retry": "backoff",
        "timestamping": "refresh",
        "all-proxy": "proxy", "bind-address": "interface", "bind-interface": "interface", "ca-directory": "capath",
        "certificate": "cert", "check-certificate": "insecure", "crl-file": "crlfile", "disable-ipv6": "ipv4",
        "http-accept-gzip": "compressed", "http-proxy": "proxy", "https-proxy": "proxy", "inet4-only": "ipv4",
        "inet6-only": "ipv6", "lowest-speed-limit": "speed-limit", "max-connection-per-server": "segments",
        "max-download-limit": "limit-rate", "max-redirect": "max-redirs", "multiple-interface": "interface",
        "netrc-path": "netrc-file", "no-verbose": "quiet", "out": "output", "private-key": "key",
        "read-timeout": "timeout", "retry-on-host-error": "retry-all-errors",
        "retry-on-http-error": "retry-status", "retry-wait": "retry-delay", "save-headers": "include",
        "server-response": "include", "split": "segments", "waitretry": "backoff",
    ]

    /// Letters of curl's options that are refused, by the names of those.
    static let letters: [Character: String] = [
        "0": "http1.0", "2": "sslv2", "3": "sslv3", ":": "next", "B": "use-ascii", "M": "manual", "Q": "quote",
        "V": "version", "a": "append", "l": "list-only", "p": "proxytunnel", "t": "telnet-option",
    ]

    /// The replacement of an option of another command; nil for an unknown one.
    static func advice(on name: String) -> String? {
        if let advice = refusals[name] { return advice }
        if let group = groups.first(where: { $0.names.contains(name) }) { return group.advice }
        return prefixes.first { name.hasPrefix($0.prefix) }?.advice
            ?? (names[name] == nil ? downloaderAdvice(on: name) : nil)
    }

    /// Options of curl that are refused, and what to use.
    private static let refusals = [
        "abstract-unix-socket": "--unix-socket takes one that has a file",
        "append": "an upload replaces the file",
        "aws-sigv4": "let another program sign, and give the fields with -H",
        "clobber": "files are replaced, unless --no-clobber is given",
        "cert-type": "PEM and PKCS #12 are told apart by what they hold",
        "create-file-mode": "files are made as the umask says",
        "crlf": "bodies are sent as they are",
        "digest": "use --user or --bearer", "anyauth": "only Basic and bearer tokens are supported: --user, --bearer",
        "ntlm": "use --user or --bearer", "ntlm-wb": "use --user or --bearer", "negotiate": "use --user or --bearer",
        "disallow-username-in-url": "users in URLs are accepted, and never shown",
        "engine": "give the key of --cert in a file", "key-type": "keys are PEM",
        "expect100-timeout": "no body waits for 100 Continue",
        "form-escape": "names of parts are percent-encoded, as browsers do",
        "haproxy-protocol": "refrain cannot send its line",
        "happy-eyeballs-timeout-ms": "IPv4 is tried after 200 ms; -4 and -6 choose one",
        "http0.9": "a head is needed to tell whether an answer is whole",
        "http1.0": "HTTP/1.1 also works with servers of HTTP/1.0",
        "http2-prior-knowledge": "HTTP/2 is used over TLS if the server supports it",
        "http3": "HTTP/2 and HTTP/1.1 are supported", "http3-only": "HTTP/2 and HTTP/1.1 are supported",
        "ignore-content-length": "a body that is shorter than its length was cut",
        "junk-session-cookies": "leave --cookie FILE out",
        "keepalive-time": "60 s of silence end the attempt",
        "no-keepalive": "60 s of silence end the attempt",
        "libcurl": "what is sent is shown by -v", "list-only": "a folder of FTP cannot be fetched",
        "local-port": "--interface chooses the address to connect from",
        "location-trusted": "credentials go to no other origin than that of the URL; name the last one",
        "manual": "use refrain help get", "metalink": "use --segments and --sha256",
        "netrc-optional": "use --netrc; a user in the URL comes first",
        "next": "all options are for all URLs; --from takes a line in JSON for each request",
        "output-null": "use -o /dev/null", "out-null": "use -o /dev/null",
        "path-as-is": ". and .. in a path are resolved (RFC 3986 §5.2.4)",
        "preproxy": "give one proxy by --proxy",
        "proto-default": "write the scheme in front of each URL",
        "proxytunnel": "https goes through a tunnel in any case",
        "raw": "a chunked body is put together in any case",
        "request-target": "the target is that of the URL; --connect-to and --resolve change where it goes",
        "skip-existing": "a list with --output-dir or --state skips what is done",
        "sslv2": "TLS is used", "sslv3": "TLS is used", "stderr": "use 2>FILE",
        "styled-output": "heads are written without colors",
        "suppress-connect-headers": "what a proxy answers to CONNECT is never shown",
        "tcp-fastopen": "it could send a request twice",
        "tr-encoding": "use --compressed", "trace": "use -v", "trace-ascii": "use -v",
        "trace-time": "use --report FILE",
        "variable": "let the shell put values into the options", "version": "use refrain --version",
        "xattr": "use --report FILE, which has the URL of each file",
    ]

    /// The same for several options at a time.
    private static let groups: [(names: Set<String>, advice: String)] = [
        (
            [
                "compressed-ssh", "disable-eprt", "disable-epsv", "hostpubmd5", "hostpubsha256", "krb", "login-options",
                "pubkey", "quote", "sasl-authzid", "sasl-ir", "ssl", "ssl-reqd", "telnet-option", "tftp-blksize",
                "tftp-no-options",
                "use-ascii",
            ], "refrain supports only HTTP"
        ),
        (
            [
                "delegation", "service-name", "socks5-basic", "socks5-gssapi", "socks5-gssapi-nec",
                "socks5-gssapi-service",
            ],
            "refrain does not support Kerberos; use --user, --bearer, or a proxy with a user and a password"
        ),
        (
            [
                "cert-status", "egd-file", "false-start", "no-alpn", "no-npn", "no-sessionid", "random-file",
                "ssl-allow-beast", "ssl-auto-client-cert", "ssl-no-revoke", "ssl-revoke-best-effort", "tlsauthtype",
                "tlspassword", "tlsuser",
            ], "TLS is that of the system's library; --tlsv1.2, --tls-max and --ciphers set limits"
        ),
        (["alt-svc", "hsts"], "only cookies and the state of a list are kept between runs"),
        (
            ["post301", "post302", "post303"],
            "a POST becomes a GET by a redirect of 301, 302 and 303, as in browsers; 307 and 308 keep it"
        ),
    ]

    /// The same for options whose names begin alike.
    private static let prefixes = [
        (prefix: "ftp-", advice: "refrain supports only HTTP"), (prefix: "mail-", advice: "refrain supports only HTTP"),
        (prefix: "dns-", advice: "names are resolved by the system; --resolve sets an address"),
        (prefix: "doh-", advice: "names are resolved by the system; --resolve sets an address"),
        (prefix: "expand-", advice: "let the shell put values into the options"),
        (prefix: "proxy-", advice: "for a proxy, give its URL and, with --proxy-user, its user and password"),
        (prefix: "proxy1.0", advice: "use --proxy"),
    ]
}

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
                "-j \(Sanitized.text(text)): -j and -P take a number, that of requests at a time; "
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

    /// An error about a word that is not a URL, with a suggestion.
    static func explained(_ error: UsageError, _ word: String, _ arguments: Arguments) -> UsageError {
        guard !word.contains("://") else { return error }
        if arguments.has(.remoteName) { return UsageError("\(error). -O takes no name; -o NAME does") }
        if arguments.has(.include) { return UsageError("\(error). -i shows heads; a list is given by --from FILE") }
        if arguments.last(.idempotencyKey)?.isEmpty == true {
            return UsageError("\(error). A key of your own follows an equals sign: --idempotency-key=KEY")
        }
        return error
    }

    /// The replacement of an option of these commands, also in its form that begins with `no-`.
    private static func downloaderAdvice(on name: String) -> String? {
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
        "quota": "use --max-body, which is for each response", "start-pos": "use -r N-",
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
            "a file grows as its bytes arrive"
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
            ], "BitTorrent, Metalink and remote control are not supported; give URLs, or a list with --from"
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
        (["random-wait", "wait"], "use --pace, such as --pace 1/s; -j is how many run at a time"),
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
