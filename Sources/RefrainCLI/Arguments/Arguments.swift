/// A command line that was read by a command's table of options.
///
/// Long options take their value as `--name value` or `--name=value`, short ones as `-n value` or `-nvalue`; short
/// flags may be clustered; `--` ends the options. Where an option stands twice, the last one counts unless it collects.
struct Arguments: Sendable {
    /// The values of each option that was given, in order; flags give an empty text.
    private(set) var values: [OptionName: [String]] = [:]
    /// Every option that was given with its value, in order, where the order among several options counts.
    private(set) var given: [(name: OptionName, value: String)] = []
    /// What is no option.
    private(set) var positionals: [String] = []

    /// Reads the words after the command's name.
    init(_ words: [String], options: [OptionSpec]) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                positionals += rest
                return
            }
            if word.hasPrefix("--") {
                try readLong(word, options, &rest)
            } else if word.hasPrefix("-"), word != "-" {
                try readShort(word, options, &rest)
            } else {
                positionals.append(word)
            }
        }
    }

    /// Whether an option was given.
    func has(_ name: OptionName) -> Bool { values[name] != nil }
    /// The last value of an option.
    func last(_ name: OptionName) -> String? { values[name]?.last }
    /// All values of an option.
    func all(_ name: OptionName) -> [String] { values[name] ?? [] }

    private mutating func readLong(
        _ word: String,
        _ options: [OptionSpec],
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let spelling = parts.first.map(String.init) ?? ""
        let attached = parts.count > 1 ? String(parts[1]) : nil
        guard let option = options.first(where: { $0.spellings.contains(spelling) }) else {
            throw Self.unknown("--" + spelling, among: options)
        }
        switch (option.value, attached) {
        case (.none, nil), (.optional, nil):
            add(option, "")
        case (.none, .some):
            throw UsageError("--\(spelling) takes no value")
        case (.optional, .some(let value)):
            guard !value.isEmpty else { throw UsageError("--\(spelling)= lacks a value after the equals sign") }
            add(option, value)
        case (.required, .some(let value)):
            add(option, value)
        case (.required(let placeholder), nil):
            add(option, try Self.next(of: &rest, for: "--" + spelling, placeholder, options))
        }
    }

    private mutating func readShort(
        _ word: String,
        _ options: [OptionSpec],
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = options.first(where: { $0.letters.contains(letter) }) else {
                throw letters.isEmpty && word.count == 2
                    ? Self.unknown(letter: letter) : Self.unknown(word, among: options)
            }
            guard case .required(let placeholder) = option.value else {
                add(option, "")
                continue
            }
            let value =
                letters.isEmpty ? try Self.next(of: &rest, for: "-\(letter)", placeholder, options) : String(letters)
            add(option, value)
            return
        }
    }

    private mutating func add(_ option: OptionSpec, _ value: String) {
        values[option.name, default: []].append(value)
        given.append((option.name, value))
    }

    private static func next(
        of rest: inout ArraySlice<String>,
        for option: String,
        _ placeholder: String,
        _ options: [OptionSpec]
    ) throws(UsageError) -> String {
        // A word that is itself an option was not meant as a value; one that only begins like one may be.
        let isOption = rest.first.map { word in
            word == "--"
                || options.contains { $0.spellings.contains { word == "--" + $0 || word.hasPrefix("--\($0)=") } }
        }
        guard isOption == false, let value = rest.popFirst() else {
            throw UsageError("\(option) lacks its value: \(option) \(placeholder)")
        }
        return value
    }

    /// What other commands call the same; to `--attempts` the first try counts, too.
    private static let namesElsewhere = [
        "retries": "retry", "max-retries": "retry", "tries": "attempts",
        "max-tries": "attempts", "max-concurrent-downloads": "concurrency", "max-threads": "concurrency",
        "input-file": "from", "output-document": "output", "directory-prefix": "output-dir", "dir": "output-dir",
        "oauth2-bearer": "bearer", "post-data": "data", "body-data": "data", "no-check-certificate": "insecure",
        "ca-certificate": "cacert", "load-cookies": "cookie", "save-cookies": "cookie-jar", "wait-retry": "backoff",
        "remote-name-all": "remote-name", "timestamping": "refresh", "no-progress-meter": "silent",
    ]

    /// Options of curl that are refused, and what to use.
    private static let refusals = [
        "continue-at": "use -C, which goes on from a partial file that is known to be the same content",
        "max-redirs": "20 redirects are followed; --no-location follows none",
        "socks5": "use --proxy socks5://HOST:PORT", "socks5-hostname": "use --proxy socks5h://HOST:PORT",
        "proxy-user": "write it into the URL of --proxy: http://USER:PASSWORD@HOST:PORT",
        "preproxy": "give one proxy by --proxy", "path-as-is": ". and .. in a path are resolved (RFC 3986 §5.2.4)",
        "http2": "HTTP/2 is spoken where TLS agrees to it", "parallel-immediate": "use --concurrency N",
        "anyauth": "only Basic and bearer tokens are spoken: --user, --bearer",
        "basic": "--user sends Basic credentials by itself", "digest": "use --user or --bearer",
        "ntlm": "use --user or --bearer", "negotiate": "use --user or --bearer",
        "range": "use -H 'Range: bytes=A-B'",
        "trace": "use -v", "trace-ascii": "use -v", "styled-output": "the head is written as it came",
        "speed-limit": "an answer that is silent for 60 s ends the attempt; --timeout limits each attempt",
        "speed-time": "an answer that is silent for 60 s ends the attempt; --timeout limits each attempt",
        "http1.0": "HTTP/1.1 is spoken with servers of HTTP/1.0, too",
        "next": "all options are for all URLs; --from takes a line in JSON for each request",
        "globoff": "nothing in a URL stands for several: brackets and braces are taken as they are",
        "no-buffer": "what has arrived is written at once, behind the first megabyte",
        "progress-bar": "a line shows the progress on a terminal; --progress names other kinds",
        "proxytunnel": "https goes through a tunnel in any case", "append": "an upload replaces what is there",
        "time-cond": "use -H 'If-Modified-Since: DATE', or --refresh with a state",
        "output-null": "use -o /dev/null", "junk-session-cookies": "leave --cookie FILE out",
    ]

    /// Letters of curl's options that are refused, by the names of those.
    private static let lettersElsewhere: [Character: String] = [
        "r": "range", "U": "proxy-user", "0": "http1.0", "g": "globoff", "N": "no-buffer", "#": "progress-bar",
        ":": "next", "y": "speed-time", "Y": "speed-limit", "p": "proxytunnel", "a": "append", "z": "time-cond",
    ]

    /// The error for a letter that is no option.
    static func unknown(letter: Character) -> UsageError {
        guard let name = lettersElsewhere[letter], let advice = refusals[name] else {
            return UsageError("unknown option -\(letter)")
        }
        return UsageError("-\(letter) (curl's --\(name)) is not taken; \(advice)")
    }

    /// The error for a word that is no option.
    static func unknown(_ word: String, among options: [OptionSpec]) -> UsageError {
        let known = options.flatMap(\.spellings)
        let bare = String(word.drop { $0 == "-" })
        let name = String(bare.prefix { $0 != "=" })
        if let advice = refusals[name] { return UsageError("--\(name) is not taken; \(advice)") }
        // The names that other commands have can be misspelt, too.
        let elsewhere = namesElsewhere.filter { known.contains($0.value) }
        guard
            let near = elsewhere[name] == nil
                ? SuggestionFinder.nearest(to: name, among: known + elsewhere.keys.sorted()) : name
        else { return UsageError("unknown option \(Sanitized.text(word))") }
        let meant = elsewhere[near] ?? near
        return UsageError("unknown option \(Sanitized.text(word)); did you mean --\(meant)?")
    }
}
