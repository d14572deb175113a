/// Combines the lines of one field.
enum FieldValues {
    /// The value of a field that may occur once: its lines, if they are equal; otherwise `nil`.
    static func single(_ lines: [String]) -> String? {
        guard let first = lines.first else { return nil }
        // Compared by bytes, because strings are also equal if they differ only in Unicode normalization.
        return lines.allSatisfy { $0.utf8.elementsEqual(first.utf8) } ? first : nil
    }

    /// The elements of a comma-separated field, in order, without surrounding spaces and tabs.
    ///
    /// Ignores quoting, so it is for fields of tokens and numbers only.
    static func elements(_ lines: [String]) -> [Substring.UTF8View] {
        lines.flatMap { line in
            line.utf8.split(separator: .comma, omittingEmptySubsequences: false).map(trimmed)
        }
    }

    /// The bytes without leading and trailing spaces and tabs.
    static func trimmed(_ bytes: Substring.UTF8View) -> Substring.UTF8View {
        var rest = bytes
        while let first = rest.first, first.isOptionalWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isOptionalWhitespace { rest.removeLast() }
        return rest
    }
}
