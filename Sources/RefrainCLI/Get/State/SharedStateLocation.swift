// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The place of a state that several machines share: `postgres://…`.
struct SharedStateLocation: Sendable {
    /// The URL, which may have a password.
    let url: String
    /// The name of the queue that the requests are kept in.
    let queue: String
    /// How long a claim lasts that its run does not renew.
    let lease: Duration

    /// Whether the operand of `--state`, `status`, `retry` or `forget` is a database.
    static func isDatabase(_ text: String) -> Bool {
        ["postgres://", "postgresql://"].contains { text.lowercased().hasPrefix($0) }
    }

    /// Reads a place; nil: the text is none.
    ///
    /// - Throws: ``UsageError`` where `--queue` has no effect, or this program cannot use a database.
    init?(_ text: String?, _ arguments: Arguments) throws(UsageError) {
        let name = arguments.last(.queue)
        guard let text, Self.isDatabase(text) else {
            for option in [OptionName.queue, .lease] where arguments.has(option) {
                throw UsageError("--\(option.rawValue) is for a state in a database, such as postgres://HOST/NAME")
            }
            return nil
        }
        guard name?.isEmpty != true, (name ?? "").utf8.count <= 900, !(name ?? "").utf8.contains(0) else {
            throw UsageError("--queue: the name has no text, or is too long")
        }
        let lease = try arguments.duration(.lease) ?? .seconds(30)
        guard (.seconds(1) ... .seconds(86_400)).contains(lease) else {
            throw .badValue(arguments.last(.lease) ?? "", of: "--lease", "is not a time from 1s to 1d")
        }
        (url, queue, self.lease) = (text, name ?? "default", lease)
        #if !PostgreSQL
        throw UsageError(
            "\(SanitizedURL.text(text)): this refrain was built without PostgreSQL; the Debian package has it, and so has "
                + "what swift build --traits PostgreSQL makes"
        )
        #endif
    }

    /// The place for messages, without the password.
    var shown: String { Sanitized.text(SanitizedURL.text(url)) }

    /// The words that name the place on a command line, with the user and without passwords.
    var words: String {
        var text = SanitizedURL.text(url)
        if let user = SanitizedURL.user(of: url), let slashes = text.firstRange(of: "://") {
            text.insert(contentsOf: "\(user)@", at: slashes.upperBound)
        }
        if let mark = text.firstIndex(of: "?") {
            let parameters = text[mark...].dropFirst().split(separator: "&").filter { !Self.isSecret($0) }
            text = text[..<mark] + (parameters.isEmpty ? "" : "?") + parameters.joined(separator: "&")
        }
        let place = ShellText.quoted(text)
        return queue == "default" ? place : "\(place) --queue \(ShellText.quoted(queue))"
    }

    /// Whether libpq takes a parameter for a secret; one whose name has escapes may be any.
    private static func isSecret(_ parameter: Substring) -> Bool {
        let name = parameter.prefix { $0 != "=" }
        return ["%", "password", "secret", "_key"].contains { name.contains($0) }
    }
}
