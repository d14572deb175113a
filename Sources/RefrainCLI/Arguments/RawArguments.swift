// SPDX-License-Identifier: Apache-2.0
/// The words of the command line.
enum RawArguments {
    /// Options whose values can be secrets.
    private static let secrets: Set<OptionName> = [
        .user, .bearer, .header, .cookie, .data, .dataRaw, .dataBinary, .dataUrlencode, .json, .form, .formString,
        .proxy, .proxyUser, .urlQuery, .cert, .pass, .socks4, .socks4a, .socks5, .socks5Hostname, .idempotencyKey,
    ]
    /// Those whose value after an `@` is the name of a file.
    private static let fileOptions: Set<OptionName> = [.header, .bearer, .data, .dataBinary, .json]

    /// Whether an option or a URL has what can be a secret.
    static func hasSecrets(_ arguments: Arguments) -> Bool { !texts(arguments).isEmpty }

    /// What can be a secret.
    private static func texts(_ arguments: Arguments) -> Set<String> {
        let given = arguments.given.filter { name, value in
            secrets.contains(name) && !(fileOptions.contains(name) && value.hasPrefix("@"))
        }
        let urls = arguments.positionals + arguments.all(.referer) + arguments.all(.state)
        return Set(given.map(\.value)).union(urls.filter { SanitizedURL.text($0) != $0 })
    }

    /// Overwrites what can be a secret in the memory that `ps` reads: values of such options, and users of URLs.
    static func blank(_ arguments: Arguments) {
        let texts = texts(arguments)
        guard !texts.isEmpty else { return }
        // One secret may be the end of another one: the longest that fits is overwritten.
        let ordered = texts.sorted { $0.utf8.count > $1.utf8.count }
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let pointer = CommandLine.unsafeArgv[index] else { break }
            let word = String(cString: pointer)
            // The value is a word of its own, or follows the name of its option.
            guard
                let text = ordered.first(where: {
                    !$0.isEmpty && word.hasSuffix($0) && (word == $0 || word.hasPrefix("-"))
                })
            else {
                continue
            }
            let start = word.utf8.count - text.utf8.count
            for offset in start..<word.utf8.count { pointer[offset] = CChar(UInt8(ascii: "x")) }
        }
    }

    /// The words after the program's name.
    ///
    /// The standard library's own list has replacement characters in arguments that are not UTF-8, which would change
    /// bodies and names of files.
    ///
    /// - Throws: ``UsageError``, which names the argument that is not UTF-8.
    static func read() throws(UsageError) -> [String] {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let pointer = CommandLine.unsafeArgv[index] else { break }
            guard let word = String(validatingCString: pointer) else {
                throw UsageError(
                    "argument \(index), \(Sanitized.text(String(cString: pointer))), is not UTF-8; "
                        + "a body that is none can be read from a file: -d @FILE"
                )
            }
            words.append(word)
        }
        return words
    }
}
