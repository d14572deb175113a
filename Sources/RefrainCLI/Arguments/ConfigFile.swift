/// Options in a file, in curl's form: `option value`, `option = "value"`, `-o value`, one per line.
enum ConfigFile {
    /// The words of a command line with those of its `--config` files in their places.
    ///
    /// - Throws: ``UsageError``, which names the file and the line.
    static func expanded(_ words: [String], options: [OptionSpec]) throws(UsageError) -> Expanded {
        var result = Expanded()
        var rest = words[...]
        while let word = rest.popFirst() {
            let path: String
            if word == "--" {
                result.words += [word] + rest
                return result
            } else if word == "-K" || word == "--config" {
                guard let next = rest.popFirst() else { throw UsageError("\(word) lacks its value: \(word) FILE") }
                path = next
            } else if word.hasPrefix("--config=") {
                path = String(word.dropFirst("--config=".count))
            } else if word.hasPrefix("-K") {
                path = String(word.dropFirst(2))
            } else {
                result.words.append(word)
                // What follows an option with a value is that value, whatever it looks like.
                if takesNext(word, options), let value = rest.popFirst() { result.words.append(value) }
                continue
            }
            let name = path == "-" ? "standard input" : path
            let file = try parse(try BodyText.contents(path, "--config"), name, options)
            result.words += file.words
            result.places.merge(file.places, uniquingKeysWith: +)
        }
        return result
    }

    /// The words, and where those of files stand.
    struct Expanded {
        var words: [String] = []
        /// The file and line of each option, by its name; of URLs by `URL`.
        var places: [String: [String]] = [:]

        /// An error with the places of the option that it begins with.
        func located(_ error: UsageError) -> UsageError {
            let name = String(error.description.prefix { $0 != ":" && $0 != " " })
            guard let places = places[name] else { return error }
            return UsageError("\(error) (\(places.joined(separator: ", ")))")
        }
    }

    /// The words of a file, and their places.
    static func parse(_ bytes: [UInt8], _ name: String, _ options: [OptionSpec]) throws(UsageError) -> Expanded {
        var result = Expanded()
        // Some editors put a byte order mark in front of UTF-8.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, bytes) in lines.enumerated() {
            let place = "\(name):\(index + 1)"
            let isEndedTwice = bytes.last == UInt8(ascii: "\r")
            guard let line = String(validating: isEndedTwice ? bytes.dropLast() : bytes, as: UTF8.self) else {
                throw UsageError("\(place): is not UTF-8")
            }
            let words = try self.words(line[...], place, options)
            result.words += words
            // A word that is no option is a URL.
            guard let first = words.first else { continue }
            let option = first.hasPrefix("--") ? String(first.prefix { $0 != "=" }) : "URL"
            result.places[option, default: []].append(place)
        }
        return result
    }

    private static func takesNext(_ word: String, _ options: [OptionSpec]) -> Bool {
        let spec =
            word.hasPrefix("--")
            ? options.first { $0.spellings.contains(String(word.dropFirst(2))) }
            : word.hasPrefix("-") && word.count == 2 ? options.first { $0.letters.contains(word.last ?? " ") } : nil
        if case .required? = spec?.value { return true }
        return false
    }

    /// The words that a line stands for.
    private static func words(
        _ line: Substring,
        _ place: String,
        _ options: [OptionSpec]
    ) throws(UsageError) -> [String] {
        let line = line.drop(while: \.isWhitespace)
        guard let first = line.first, first != "#" else { return [] }
        // Behind an option with its hyphens an equals sign belongs to the value.
        let isDashed = first == "-"
        func isSeparator(_ character: Character) -> Bool {
            character.isWhitespace || (!isDashed && (character == "=" || character == ":"))
        }
        let option = line.prefix { !isSeparator($0) }
        var value = line[option.endIndex...].drop(while: isSeparator)
        if isDashed, !option.hasPrefix("--") { return try letters(option.dropFirst(), &value, place, options) }
        let bare = String(option.drop { $0 == "-" })
        if bare == "url" { return [try unquoted(&value, place)] }
        guard let spec = options.first(where: { $0.spellings.contains(bare) }) else {
            throw UsageError("\(place): \(Arguments.unknown("--" + bare, among: options))")
        }
        return [try word(spec, &value, place)]
    }

    /// The words of letters behind one hyphen: flags, and at the end an option whose value may follow at once.
    private static func letters(
        _ letters: Substring,
        _ value: inout Substring,
        _ place: String,
        _ options: [OptionSpec]
    ) throws(UsageError) -> [String] {
        var words: [String] = []
        var rest = letters
        while let letter = rest.popFirst() {
            guard let spec = options.first(where: { $0.letters.contains(letter) }) else {
                throw UsageError("\(place): \(Arguments.unknown(letter: letter))")
            }
            if case .required = spec.value, !rest.isEmpty {
                words.append("--\(spec.name.rawValue)=\(rest)")
                return words
            }
            var value = rest.isEmpty ? value : ""
            words.append(try word(spec, &value, place))
        }
        return words
    }

    /// An option with its value in one word.
    private static func word(
        _ spec: OptionSpec,
        _ value: inout Substring,
        _ place: String
    ) throws(UsageError) -> String {
        guard spec.name != .config else { throw UsageError("\(place): --config cannot stand in such a file") }
        let name = "--\(spec.name.rawValue)"
        switch spec.value {
        case .none: return name
        case .optional: return value.isEmpty ? name : "\(name)=\(try unquoted(&value, place))"
        case .required(let what):
            guard !value.isEmpty else { throw UsageError("\(place): \(spec.name.rawValue) lacks its value: \(what)") }
            return "\(name)=\(try unquoted(&value, place))"
        }
    }

    /// A value: what stands in quotation marks, with its escapes undone, or all up to the next white space.
    private static func unquoted(_ text: inout Substring, _ place: String) throws(UsageError) -> String {
        guard text.first == "\"" else {
            let value = text.prefix { !$0.isWhitespace }
            let rest = text[value.endIndex...].drop(while: \.isWhitespace)
            guard rest.isEmpty || rest.first == "#" else {
                throw UsageError("\(place): there is more after the value; one with spaces stands in quotation marks")
            }
            return String(value)
        }
        text.removeFirst()
        var value = ""
        while let character = text.popFirst() {
            if character == "\"" { return value }
            guard character == "\\", let next = text.popFirst() else {
                value.append(character)
                continue
            }
            value.append(["n": "\n", "t": "\t", "r": "\r", "v": "\u{B}"][next] ?? next)
        }
        throw UsageError("\(place): a quotation mark is not closed")
    }
}
