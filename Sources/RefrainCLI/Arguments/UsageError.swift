/// Something on the command line, or in a file that it names, cannot be used: nothing was done.
struct UsageError: Error, Hashable, CustomStringConvertible {
    /// What is wrong, with the name of the culprit.
    let description: String

    init(_ description: String) { self.description = description }

    /// A value that an option does not take.
    static func badValue(_ value: String, of option: String, _ expected: String) -> UsageError {
        UsageError("\(option): \(Shown.text(value)) \(expected)")
    }
}

/// Text from outside, fit for a message: quoted, cut short, without control characters and a URL's password.
enum Shown {
    /// Text of several lines, without what a terminal takes for more than text: escape sequences move the cursor, set
    /// the title of the window, or hide what was said.
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

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
    }

    static func text(_ text: String, limit: Int = 120) -> String {
        var shown = "\""
        var count = 0
        // A URL in the place of something else is refused as that, and is one all the same.
        let text = text.firstRange(of: "://") == nil ? text : ShownURL.refused(text)
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
