// SPDX-License-Identifier: Apache-2.0
/// Options in a file, in curl's form: `option value`, `option = "value"`, `-o value`, one per line.
enum ConfigFile {
    /// The words of a command line, each `--config` replaced by the words of its file.
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
            } else if let option = valued(word, options), option.name == .config {
                if let flags = option.flags { result.words.append(flags) }
                guard let next = option.value ?? rest.popFirst() else {
                    throw UsageError("\(word) lacks its value: \(word) FILE")
                }
                path = next
            } else {
                result.words.append(word)
                // The word after an option with a value is that value, whatever it looks like.
                let takesNext = valued(word, options).map { $0.value == nil } ?? false
                if takesNext, let value = rest.popFirst() { result.words.append(value) }
                continue
            }
            let name = path == "-" ? "standard input" : path
            let file = try parse(try Input.contents(path, "--config"), name, options)
            result.words += file.words
            result.locations.merge(file.locations, uniquingKeysWith: +)
        }
        return result
    }

    /// The words, and the locations of those from files.
    struct Expanded {
        var words: [String] = []
        /// The file and line of each option, by its name; of URLs by `URL`.
        var locations: [String: [String]] = [:]

        /// An error with the locations of the option that it begins with.
        func located(_ error: UsageError) -> UsageError {
            let name = String(error.description.prefix { $0 != ":" && $0 != " " })
            guard let locations = locations[name] else { return error }
            return error.described(as: "\(error) (\(locations.joined(separator: ", ")))")
        }
    }

    /// The words of a file, and their locations.
    static func parse(_ bytes: [UInt8], _ name: String, _ options: [OptionSpec]) throws(UsageError) -> Expanded {
        var result = Expanded()
        // Some editors put a byte order mark in front of UTF-8.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, bytes) in lines.enumerated() {
            let location = "\(name):\(index + 1)"
            let isEndedTwice = bytes.last == UInt8(ascii: "\r")
            guard let line = String(validating: isEndedTwice ? bytes.dropLast() : bytes, as: UTF8.self) else {
                throw UsageError("\(location): is not UTF-8")
            }
            let words = try self.words(line[...], location, options)
            result.words += words
            // A word that is not an option is a URL.
            guard let first = words.first else { continue }
            let option = first.hasPrefix("--") ? String(first.prefix { $0 != "=" }) : "URL"
            result.locations[option, default: []].append(location)
        }
        return result
    }

    /// The option with a value in a word of the command line; nil where there is none.
    ///
    /// - Returns: its name, the flags before it in a word of letters, and the value, if the word has it.
    static func valued(
        _ word: String,
        _ options: [OptionSpec]
    ) -> (name: OptionName, flags: String?, value: String?)? {
        if word.hasPrefix("--") {
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let spec = options.first { $0.spellings.contains(parts.first.map(String.init) ?? "") }
            guard let spec, case .required = spec.value else { return nil }
            return (spec.name, nil, parts.count > 1 ? String(parts[1]) : nil)
        }
        guard word.hasPrefix("-") else { return nil }
        var flags = "-"
        var rest = word.dropFirst()
        while let letter = rest.popFirst(), let spec = options.first(where: { $0.letters.contains(letter) }) {
            guard case .required = spec.value else {
                flags.append(letter)
                continue
            }
            return (spec.name, flags == "-" ? nil : flags, rest.isEmpty ? nil : String(rest))
        }
        return nil
    }

    /// The words of a line.
    private static func words(
        _ line: Substring,
        _ location: String,
        _ options: [OptionSpec]
    ) throws(UsageError) -> [String] {
        let line = line.drop(while: \.isWhitespace)
        guard let first = line.first, first != "#" else { return [] }
        // After an option with its hyphens, an equals sign belongs to the value.
        let isDashed = first == "-"
        func isSeparator(_ character: Character) -> Bool {
            character.isWhitespace || (!isDashed && (character == "=" || character == ":"))
        }
        let option = line.prefix { !isSeparator($0) }
        var value = line[option.endIndex...].drop(while: isSeparator)
        if isDashed, !option.hasPrefix("--") { return try letters(option.dropFirst(), &value, location, options) }
        let bare = String(option.drop { $0 == "-" })
        if bare == "url" { return [try unquoted(&value, location)] }
        guard let spec = options.first(where: { $0.spellings.contains(bare) }) else {
            throw UsageError("\(location): \(Arguments.unknown("--" + bare, among: options))")
        }
        return [try word(spec, &value, location)]
    }

    /// The words of letters after one hyphen: flags, and at the end an option whose value may follow directly.
    private static func letters(
        _ letters: Substring,
        _ value: inout Substring,
        _ location: String,
        _ options: [OptionSpec]
    ) throws(UsageError) -> [String] {
        var words: [String] = []
        var rest = letters
        while let letter = rest.popFirst() {
            guard let spec = options.first(where: { $0.letters.contains(letter) }) else {
                throw UsageError("\(location): \(Arguments.unknown(letter: letter))")
            }
            if case .required = spec.value, !rest.isEmpty {
                words.append("--\(spec.name.rawValue)=\(rest)")
                return words
            }
            var value = rest.isEmpty ? value : ""
            words.append(try word(spec, &value, location))
        }
        return words
    }

    /// An option with its value in one word.
    private static func word(
        _ spec: OptionSpec,
        _ value: inout Substring,
        _ location: String
    ) throws(UsageError) -> String {
        guard spec.name != .config else { throw UsageError("\(location): --config is not allowed in such a file") }
        let name = "--\(spec.name.rawValue)"
        let isRequired = if case .required = spec.value { true } else { false }
        if !isRequired, value.first == "#" { value = "" }
        switch spec.value {
        case .none where spec.takesHyphen && !value.isEmpty: return "\(name)=\(try unquoted(&value, location))"
        case .none:
            // `insecure = false` would switch it on, and a URL after flags would be lost.
            guard value.isEmpty else { throw UsageError("\(location): \(spec.name.rawValue) takes no value") }
            return name
        case .optional: return value.isEmpty ? name : "\(name)=\(try unquoted(&value, location))"
        case .required(let what):
            guard !value.isEmpty else {
                throw UsageError("\(location): \(spec.name.rawValue) lacks its value: \(what)")
            }
            return "\(name)=\(try unquoted(&value, location))"
        }
    }

    /// A value: the text in quotation marks without its escapes, or the text up to the next white space.
    private static func unquoted(_ text: inout Substring, _ location: String) throws(UsageError) -> String {
        guard text.first == "\"" else {
            let value = text.prefix { !$0.isWhitespace }
            let rest = text[value.endIndex...].drop(while: \.isWhitespace)
            guard rest.isEmpty || rest.first == "#" else {
                throw UsageError(
                    "\(location): there is more after the value; write one with spaces in quotation marks"
                )
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
        throw UsageError("\(location): a quotation mark is not closed")
    }
}
