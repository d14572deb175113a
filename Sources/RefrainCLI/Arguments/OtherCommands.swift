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
