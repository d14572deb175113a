// SPDX-License-Identifier: Apache-2.0
/// Text from outside, such as what a server sends, as a log or a terminal may get it: without control characters.
///
/// Escape sequences move the cursor, set the title of the window or hide text; line feeds forge a line of a log. The
/// library prints and logs nothing without it; a program that prints a header field or a body needs it, too.
///
/// ```swift
/// print(PrintableText.line(response.headers["Server"] ?? "no name"))
/// ```
public enum PrintableText {
    /// Text of several lines without the characters that a terminal interprets.
    ///
    /// Each character for which ``isControl(_:)`` is true, except the line feed, becomes a question mark.
    public static func plain(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0 != "\n" && isControl($0) }) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            shown.unicodeScalars.append(scalar != "\n" && isControl(scalar) ? "?" : scalar)
        }
        return shown
    }

    /// Text on one line: as ``plain(_:)``, and line feeds become question marks, too.
    public static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? "?" : $0 }))
    }

    /// Whether a terminal interprets the character, or shows nothing for it.
    ///
    /// These are controls, marks of the direction of text, characters without a width, and line separators: with them
    /// text can look like other text.
    public static func isControl(_ scalar: Unicode.Scalar) -> Bool {
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
}
