/// An error on the command line or in a file that it names; nothing was done.
struct UsageError: Error, Hashable, CustomStringConvertible {
    /// The message, with the name of the option or file.
    let description: String

    init(_ description: String) { self.description = description }

    /// A value that an option does not take.
    static func badValue(_ value: String, of option: String, _ expected: String) -> UsageError {
        UsageError("\(option): \(Sanitized.text(value)) \(expected)")
    }
}

/// Text from outside, for a message: quoted, shortened, without control characters and a URL's password.
enum Sanitized {
    /// Text of several lines without the characters that a terminal interprets: escape sequences move the cursor, set
    /// the title of the window, or hide text.
    static func plain(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0 != "\n" && isControl($0) }) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            shown.unicodeScalars.append(scalar != "\n" && isControl(scalar) ? "?" : scalar)
        }
        return shown
    }

    /// The same on one line.
    static func line(_ text: String) -> String { String(plain(text).map { $0 == "\n" ? "?" : $0 }) }

    /// Whether a terminal interprets the character, or shows nothing for it.
    ///
    /// These are controls, marks of the direction of text, characters without a width, and line separators: with them
    /// text can look like other text.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7F: false
        case ..<0xA0: true
        // Shown as a blank, or as nothing, although they are letters and marks to Unicode.
        case 0x034F, 0x115F...0x1160, 0x17B4...0x17B5, 0x180B...0x180F, 0x2800, 0x3164, 0xFFA0: true
        case 0xFE00...0xFE0F, 0xE0000...0xE0FFF: true
        default:
            switch scalar.properties.generalCategory {
            case .format, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
    }

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
