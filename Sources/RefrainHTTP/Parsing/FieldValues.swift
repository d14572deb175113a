/// How the lines of one field are read together.
enum FieldValues {
    /// The value of a field that may stand once only: its lines, if they all say the same; else `nil`.
    static func single(_ lines: [String]) -> String? {
        guard let first = lines.first else { return nil }
        // By bytes: strings are equal also where their letters are composed in other ways.
        return lines.allSatisfy { $0.utf8.elementsEqual(first.utf8) } ? first : nil
    }

    /// The elements of a comma-separated field, in order, without the spaces and tabs around them.
    ///
    /// Quoting is not looked at, so this is for fields of plain words and numbers.
    static func elements(_ lines: [String]) -> [Substring.UTF8View] {
        lines.flatMap { line in
            line.utf8.split(separator: .comma, omittingEmptySubsequences: false).map(trimmed)
        }
    }

    /// The bytes without spaces and tabs at either end.
    static func trimmed(_ bytes: Substring.UTF8View) -> Substring.UTF8View {
        var rest = bytes
        while let first = rest.first, first.isOptionalWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isOptionalWhitespace { rest.removeLast() }
        return rest
    }
}
