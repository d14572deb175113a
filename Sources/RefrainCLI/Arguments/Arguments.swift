// SPDX-License-Identifier: Apache-2.0
/// A command line that was read by a command's table of options.
///
/// Long options take their value as `--name value` or `--name=value`, short ones as `-n value` or `-nvalue`; short
/// flags may be clustered; `--` ends the options. The last one of a repeated option counts unless it collects.
struct Arguments: Sendable {
    /// The values of each option that was given, in order; flags give an empty text.
    private(set) var values: [OptionName: [String]] = [:]
    /// All given options with their values, in order.
    private(set) var given: [(name: OptionName, value: String)] = []
    /// The operands.
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

    /// The time that an option gives; nil where it was not given.
    func duration(_ name: OptionName) throws(UsageError) -> Duration? {
        guard let text = last(name) else { return nil }
        return try DurationText.parse(text, option: "--\(name.rawValue)")
    }

    /// The time of one of curl's options: seconds, with decimals or with a unit; zero means no limit.
    func seconds(_ name: OptionName) throws(UsageError) -> Duration? {
        guard let text = last(name) else { return nil }
        let duration = try DurationText.parseSeconds(text, option: "--\(name.rawValue)")
        return duration == .zero ? nil : duration
    }

    /// The file that an option names; nil where it was not given.
    func file(_ name: OptionName) throws(UsageError) -> String? {
        guard let path = last(name) else { return nil }
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .badValue(path, of: "--\(name.rawValue)", "is not a file")
        }
        return path
    }

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
            if option.takesHyphen { Self.skipHyphen(&rest) }
            add(option, "")
        case (.none, "-") where option.takesHyphen:
            add(option, "")
        case (.none, let value?) where option.takesHyphen:
            throw Self.offset(value)
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
                if option.takesHyphen {
                    if letters == "-" { letters = "" } else if letters.isEmpty { Self.skipHyphen(&rest) }
                    if letters.first?.isNumber == true { throw Self.offset(String(letters)) }
                }
                add(option, "")
                continue
            }
            let value =
                letters.isEmpty ? try Self.next(of: &rest, for: "-\(letter)", placeholder, options) : String(letters)
            add(option, value)
            return
        }
    }

    private static func skipHyphen(_ rest: inout ArraySlice<String>) {
        if rest.first == "-" { rest.removeFirst() }
    }

    /// The error for an offset that a download should go on at.
    static func offset(_ value: String) -> UsageError {
        UsageError(
            "-C \(Sanitized.text(value)): -C takes no offset but -, and goes on from a partial file that is known to be "
                + "part of the same file; -r \(ASCIINumber.whole(value) == nil ? "N" : value)- asks for the rest of a file"
        )
    }

    private mutating func add(_ option: OptionSpec, _ value: String) {
        // A URL of an option is the same as an operand.
        guard option.name != .url else { return positionals.append(value) }
        values[option.name, default: []].append(value)
        given.append((option.name, value))
    }

    private static func next(
        of rest: inout ArraySlice<String>,
        for option: String,
        _ placeholder: String,
        _ options: [OptionSpec]
    ) throws(UsageError) -> String {
        // A word that is an option is not a value; one that only begins with a hyphen may be.
        let isOption = rest.first.map { word in
            word == "--"
                || options.contains { $0.spellings.contains { word == "--" + $0 || word.hasPrefix("--\($0)=") } }
        }
        guard isOption == false, let value = rest.popFirst() else {
            throw UsageError("\(option) lacks its value: \(option) \(placeholder)")
        }
        return value
    }

    /// The error for a letter that is not an option.
    static func unknown(letter: Character) -> UsageError {
        guard let name = OtherCommands.letters[letter], let advice = OtherCommands.advice(on: name) else {
            return UsageError("unknown option -\(letter)")
        }
        let further = OtherCommands.downloaderLetters[letter].map { "; " + $0 } ?? ""
        return UsageError("refrain does not support -\(letter) (curl's --\(name)); \(advice)\(further)")
    }

    /// The error for a word that is not an option.
    static func unknown(_ word: String, among options: [OptionSpec]) -> UsageError {
        if !word.hasPrefix("--"), word.hasSuffix("O-") {
            return UsageError("\(word): -O takes no name; without -o and -O the body goes to standard output")
        }
        let known = options.flatMap(\.spellings)
        let bare = String(word.drop { $0 == "-" })
        let name = String(bare.prefix { $0 != "=" })
        if let advice = OtherCommands.advice(on: name) {
            return UsageError("refrain does not support --\(name); \(advice)")
        }
        let bareName = name.hasPrefix("no-") && OtherCommands.names[name] == nil ? String(name.dropFirst(3)) : ""
        if let option = options.first(where: { $0.spellings.contains(bareName) }), case .none = option.value {
            return UsageError("unknown option \(Sanitized.text(word)); leave --\(bareName) out")
        }
        // The names of other commands can be misspelt, too.
        let elsewhere = OtherCommands.names.filter { known.contains($0.value) }
        guard
            let near = elsewhere[name] == nil
                ? SuggestionFinder.nearest(to: name, among: known + elsewhere.keys.sorted()) : name
        else { return UsageError("unknown option \(Sanitized.text(word))") }
        let meant = elsewhere[near] ?? near
        return UsageError("unknown option \(Sanitized.text(word)); did you mean --\(meant)?")
    }
}
