// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// A list of requests, one per line: a URL, or a JSON object; blank lines and lines that begin with `#` do not count.
enum URLList {
    /// Reads a list, all of it before anything is fetched; `-` is standard input.
    ///
    /// - Throws: ``UsageError``, which names the file and the invalid line.
    static func read(_ path: String) throws(UsageError) -> [ListedRequest] {
        guard !path.contains("://") || Input.isThere(path) else {
            throw UsageError(
                "--from \(Sanitized.text(path)): a list is a file; fetch it first, as by "
                    + "refrain get URL | refrain get --from -"
            )
        }
        do {
            return try parse(try Input(path: path).rest(), name: path == "-" ? "standard input" : path)
        } catch let error as UsageError {
            throw error
        } catch {
            throw UsageError("--from: \(error)")
        }
    }

    /// The lists of a command line, as a state identifies them.
    ///
    /// - Returns: their name, empty without a list; and the name again if a later run can read all requests again;
    ///   nil if some are of the command line or standard input.
    static func names(_ arguments: Arguments) -> (all: String, readableAgain: String?) {
        let lists = arguments.all(.from)
        let name = lists.map { $0 == "-" ? $0 : Directory.identity(of: $0) }.joined(separator: "\n")
        // With URLs of the command line it is another list than without.
        guard arguments.positionals.isEmpty else { return (lists.isEmpty ? "" : name + "\n", nil) }
        let areFiles = lists.allSatisfy { $0 != "-" && Directory.kind(of: $0) == .file }
        return (name, areFiles && !lists.isEmpty ? name : nil)
    }

    /// Reads the lines of a list.
    static func parse(_ bytes: [UInt8], name: String) throws(UsageError) -> [ListedRequest] {
        var requests: [ListedRequest] = []
        var number = 0
        var start = 0
        while start <= bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            number += 1
            if let request = try request(in: bytes[start..<end], number: number, of: name) { requests.append(request) }
            start = end + 1
        }
        return requests
    }

    /// The request in a line of a list; nil for a blank line or a comment.
    ///
    /// - Throws: ``UsageError``, which names the list and the line.
    static func request(
        in line: ArraySlice<UInt8>,
        number: Int,
        of name: String
    ) throws(UsageError) -> ListedRequest? {
        // Some editors put a byte order mark in front of UTF-8. It belongs to no URL.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let line = trimmed(number == 1 && line.starts(with: mark) ? line.dropFirst(mark.count) : line)
        guard let first = line.first, first != UInt8(ascii: "#") else { return nil }
        let position = ListedRequest.Position.line(number, of: name)
        if first == UInt8(ascii: "{") { return try RequestLine.parse(Array(line), at: position) }
        guard let text = String(validating: line, as: UTF8.self) else { throw UsageError("\(position): is not UTF-8") }
        try check(text, "\(position)")
        return ListedRequest(url: text, position: position)
    }

    /// Refuses a text that is not a URL that can be fetched.
    static func check(_ text: String, _ position: @autoclosure () -> String) throws(UsageError) {
        // Most URLs are plain; making a request takes ten times as long.
        if URLText.isPlain(text) { return }
        do throws(HTTPError) {
            _ = try HTTPRequest(text)
        } catch {
            if let meant = CommandLineURL.corrected(text) {
                let shown = Sanitized.text(SanitizedURL.refused(text), limit: 200)
                throw UsageError(
                    "\(position()): \(shown) lacks a slash after its scheme; did you mean \(SanitizedURL.refused(meant))?"
                )
            }
            if SanitizedURL.authorityStart(of: text) == nil, text.first.map({ $0.isNumber || $0 == "[" }) == true {
                throw UsageError(
                    "\(position()): \(Sanitized.text(text)) has no scheme; begin it with http:// or https://"
                )
            }
            throw UsageError(
                "\(position()): \(Sanitized.text(SanitizedURL.refused(text), limit: 200)) \(reason(error))"
            )
        }
    }

    /// The reason of a refusal, without the quoted text before it.
    private static func reason(_ error: HTTPError) -> String {
        let parts = (error.message ?? "").split(separator: "\" ", omittingEmptySubsequences: false)
        return parts.count > 1 ? parts.last.map(String.init) ?? "" : "is refused (\(error.code.rawValue))"
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        var line = line.drop(while: isSpace)
        while let last = line.last, isSpace(last) { line.removeLast() }
        return line
    }
}

/// The validation of a URL of the command line, with hints for users of curl, wget and aria2c.
enum CommandLineURL {
    /// The URL of a word of the command line, to which a scheme is added if it is a host without one.
    ///
    /// It is https, but http for this machine and for ports other than 443 and 8443.
    static func completed(_ word: String, _ arguments: Arguments) -> String {
        // Beside a URL it is rather a name that these options do not take.
        let isName = arguments.has(.remoteName) || arguments.has(.include)
        guard isBareHost(word), !(isName && arguments.positionals.contains { $0.contains("://") }) else { return word }
        return scheme(of: word) + "://" + word
    }

    /// Whether a word is a host without a scheme: with a point, a port or a path, an address in brackets, or localhost.
    private static func isBareHost(_ word: String) -> Bool {
        guard SanitizedURL.authorityStart(of: word) == nil, corrected(word) == nil else { return false }
        let (host, port) = hostAndPort(word)
        if host.hasPrefix("[") { return host.hasSuffix("]") && host.contains(":") }
        guard let first = host.utf8.first, ASCIILetter.isLetterOrDigit(first),
            host.unicodeScalars.allSatisfy({
                !$0.isASCII || ASCIILetter.isLetterOrDigit(UInt8($0.value)) || "-._@".unicodeScalars.contains($0)
            })
        else { return false }
        let isNumbered = port.flatMap { ASCIINumber.whole($0) } != nil
        guard port == nil || isNumbered else { return false }
        // A file that was meant for another option is not a host.
        let ending = host.split(separator: ".").last.map(String.init) ?? ""
        guard isNumbered || word.count > host.count || !fileEndings.contains(ending) else { return false }
        return isNumbered || host == "localhost" || (host.contains(".") && !host.hasSuffix("."))
    }

    /// Whether a word is a URL, or a host without a scheme.
    static func isURL(_ word: String) -> Bool {
        !word.hasPrefix("-") && (word.contains("://") || isBareHost(word) || corrected(word) != nil)
    }

    /// A URL with the slashes that it lacks after its scheme: `http:/host` and `https:host`; nil for any other text.
    static func corrected(_ text: String) -> String? {
        let lowercased = text.lowercased()
        for scheme in ["http", "https"] {
            for start in ["\(scheme):/", "\(scheme):", "\(scheme)//"] where lowercased.hasPrefix(start) {
                let rest = text.dropFirst(start.utf8.count)
                let word = rest.prefix { !"/?#".contains($0) }
                // A host of this name with a port.
                let isPort = start.hasSuffix(":") && ASCIINumber.whole(word) != nil
                guard !rest.hasPrefix("/"), !word.isEmpty, !isPort else { continue }
                return "\(scheme)://\(rest)"
            }
        }
        return nil
    }

    private static let fileEndings: Set = [
        "txt", "csv", "json", "jsonl", "lst", "list", "urls", "xml", "yaml", "html", "conf", "log", "tar", "gz", "iso",
    ]

    private static func scheme(of word: String) -> String {
        let (host, port) = hostAndPort(word)
        if let port { return ["443", "8443"].contains(port) ? "https" : "http" }
        let isLocal = host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.") || host == "[::1]"
        return isLocal ? "http" : "https"
    }

    private static func hostAndPort(_ word: String) -> (host: String, port: String?) {
        let end = word.firstIndex { "/?#".contains($0) } ?? word.endIndex
        let authority = word[..<end]
        let start = authority.lastIndex(of: "]") ?? authority.lastIndex(of: "@") ?? authority.startIndex
        guard let colon = authority[start...].firstIndex(of: ":") else { return (String(authority), nil) }
        return (String(authority[..<colon]), String(authority[authority.index(after: colon)...]))
    }

    /// What is said of words without a scheme: which one was taken; nil: there are none.
    static func remark(_ arguments: Arguments) -> String? {
        let urls = arguments.positionals.compactMap { word in
            let url = completed(word, arguments)
            return url == word ? nil : SanitizedURL.text(url)
        }
        guard !urls.isEmpty else { return nil }
        return "no scheme given; using \(urls.map { Sanitized.line($0) }.joined(separator: ", "))"
    }

    /// - Throws: ``UsageError`` that says what to write instead.
    static func check(_ url: String, _ arguments: Arguments) throws(UsageError) {
        if arguments.has(.continue), ASCIINumber.whole(url) != nil { throw Arguments.offset(url) }
        do throws(UsageError) {
            try URLList.check(url, "URL")
        } catch {
            throw OtherCommands.explained(error, url, arguments)
        }
        guard !arguments.has(.globoff), let pattern = URLPattern.first(in: url) else { return }
        let shown = Sanitized.text(SanitizedURL.refused(url), limit: 200)
        throw UsageError(
            "URL: \(shown) has the pattern \(Sanitized.text(pattern)), which is not expanded here: the shell does that, "
                + "with {a,b} and {1..9} outside of quotation marks; -g takes it as it is"
        )
    }
}

/// The patterns by which curl makes several URLs of one: `{a,b}`, `[1-9]`, `[01-99:2]` and `[a-z]`.
private enum URLPattern {
    /// The first pattern in a text; nil where there is none, as in an address of IPv6 or an empty pair of brackets.
    static func first(in text: String) -> String? {
        var rest = text[...]
        while let start = rest.firstIndex(where: { $0 == "{" || $0 == "[" || $0 == "\\" }) {
            let opening = rest[start]
            rest = rest[start...].dropFirst()
            guard opening != "\\" else {
                // A backslash escapes the next character.
                rest = rest.dropFirst()
                continue
            }
            guard let end = rest.firstIndex(of: opening == "{" ? "}" : "]") else { continue }
            let content = rest[..<end]
            if opening == "{" ? content.contains(",") : isRange(content) { return String(text[start...end]) }
        }
        return nil
    }

    /// Whether a text is a range of numbers or of letters, with or without a step.
    private static func isRange(_ text: Substring) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let bounds = parts.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard parts.count <= 2, bounds.count == 2, parts.dropFirst().allSatisfy({ ASCIINumber.whole($0) != nil }) else {
            return false
        }
        let areLetters = bounds.allSatisfy { $0.utf8.count == 1 && $0.first?.isLetter ?? false }
        return areLetters || bounds.allSatisfy { ASCIINumber.whole($0) != nil }
    }
}
