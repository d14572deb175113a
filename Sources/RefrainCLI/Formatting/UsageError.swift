// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// An error on the command line or in a file that it names; nothing was done.
struct UsageError: Error, Hashable, CustomStringConvertible {
    /// The message, with the name of the option or file.
    let description: String
    /// Whether the command line is right, and what it names is out of reach: the same one may work later.
    let isOutage: Bool

    init(_ description: String, isOutage: Bool = false) {
        (self.description, self.isOutage) = (description, isOutage)
    }

    /// The error with more of where it is.
    func described(as description: String) -> UsageError { UsageError(description, isOutage: isOutage) }

    /// A value that an option does not take.
    static func badValue(_ value: String, of option: String, _ expected: String) -> UsageError {
        UsageError("\(option): \(Sanitized.text(value)) \(expected)")
    }
}

/// Text from outside, as the command prints it: the library's one function for that, and quoted for messages.
enum Sanitized {
    /// Text of several lines without the characters that a terminal interprets.
    static func plain(_ text: String) -> String { PrintableText.plain(text) }

    /// The same on one line.
    static func line(_ text: String) -> String { PrintableText.line(text) }

    /// Whether a terminal interprets the character, or shows nothing for it.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool { PrintableText.isControl(scalar) }

    /// A text for a message: quoted, shortened, without control characters and a URL's password.
    static func text(_ text: String, limit: Int = 120) -> String {
        var shown = "\""
        var count = 0
        // A misplaced URL is still a URL, whose password is removed.
        let text = text.firstRange(of: "://") == nil ? text : SanitizedURL.refused(text)
        for scalar in text.unicodeScalars {
            guard count < limit else { return shown + "…\"" }
            count += 1
            switch scalar {
            case "\r": shown += "\\r"
            case "\n": shown += "\\n"
            case "\t": shown += "\\t"
            case "\0": shown += "\\0"
            case _ where isControl(scalar): shown += "?"
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown + "\""
    }
}
