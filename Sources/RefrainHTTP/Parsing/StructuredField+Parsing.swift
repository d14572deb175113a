extension StructuredField {
    /// Reads an item from the lines of its field (RFC 9651 §4.2.3); `nil` if they are malformed.
    public static func item(fieldValues: [String]) -> Item? {
        whole(fieldValues) { $0.item() }
    }

    /// Reads a list from the lines of its field (RFC 9651 §4.2.1); empty without any, `nil` if they are malformed.
    public static func list(fieldValues: [String]) -> [Member]? {
        whole(fieldValues) { $0.list() }
    }

    /// Reads a dictionary from the lines of its field (RFC 9651 §4.2.2); empty without any, `nil` if malformed.
    public static func dictionary(fieldValues: [String]) -> Dictionary? {
        whole(fieldValues) { $0.dictionary() }
    }

    /// Runs a parser on all lines, which are joined by commas, and sees to it that nothing is left over.
    private static func whole<Value>(_ lines: [String], _ parse: (inout StructuredFieldParser) -> Value?) -> Value? {
        var parser = StructuredFieldParser(lines.count == 1 ? lines[0] : lines.joined(separator: ", "))
        guard let value = parse(&parser), parser.isAtEnd else { return nil }
        return value
    }
}
