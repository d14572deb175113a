/// Options in a file, in curl's form: `option value`, `option = "value"`, `-o value`, one per line.
enum ConfigFile {
    /// The words of a command line with those of its `--config` files in their places.
    ///
    /// - Throws: ``UsageError``, which names the file and the line.
    static func expanded(_ words: [String], options: [OptionSpec]) throws(UsageError) -> [String] {
        var result: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            let path: String
            if word == "--" {
                return result + [word] + rest
            } else if word == "-K" || word == "--config" {
                guard let next = rest.popFirst() else { throw UsageError("\(word) lacks its value: \(word) FILE") }
                path = next
            } else if word.hasPrefix("--config=") {
                path = String(word.dropFirst("--config=".count))
            } else if word.hasPrefix("-K") {
                path = String(word.dropFirst(2))
            } else {
                result.append(word)
                // What follows an option with a value is that value, whatever it looks like.
                if takesNext(word, options), let value = rest.popFirst() { result.append(value) }
                continue
            }
            let name = path == "-" ? "standard input" : path
            result += try self.words(
                String(decoding: try BodyText.contents(path, "--config"), as: UTF8.self),
                name,
                options
            )
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

    /// The words that the lines of a file stand for.
    static func words(_ text: String, _ name: String, _ options: [OptionSpec]) throws(UsageError) -> [String] {
        var words: [String] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.drop(while: \.isWhitespace)
            guard let first = line.first, first != "#" else { continue }
            let place = "\(name):\(index + 1)"
            let option = line.prefix { !$0.isWhitespace && $0 != "=" && $0 != ":" }
            var value = line[option.endIndex...].drop { $0.isWhitespace || $0 == "=" || $0 == ":" }
            let bare = String(option.drop { $0 == "-" })
            let isLetter = option.hasPrefix("-") && !option.hasPrefix("--") && bare.count == 1
            if !isLetter, bare == "url" {
                words.append(try unquoted(&value, place))
                continue
            }
            let spec = options.first { isLetter ? $0.letters.contains(bare.first ?? " ") : $0.spellings.contains(bare) }
            guard let spec, spec.name != .config else {
                throw UsageError("\(place): unknown option \(Sanitized.text(String(option)))")
            }
            words.append("--\(spec.name.rawValue)")
            switch spec.value {
            case .none: break
            case .optional: if !value.isEmpty { words[words.count - 1] += "=\(try unquoted(&value, place))" }
            case .required(let what):
                guard !value.isEmpty else { throw UsageError("\(place): \(option) lacks its value: \(what)") }
                words[words.count - 1] += "=\(try unquoted(&value, place))"
            }
        }
        return words
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
