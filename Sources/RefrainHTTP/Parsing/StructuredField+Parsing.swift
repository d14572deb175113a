extension StructuredField {
    /// Parses an item from the lines of its field (RFC 9651 §4.2.3); returns `nil` if they are malformed.
    public static func item(fieldValues: [String]) -> Item? {
        parseAll(fieldValues) { $0.item() }
    }

    /// Parses a list from the lines of its field (RFC 9651 §4.2.1); empty without lines, `nil` if they are malformed.
    @_optimize(none)
    public static func list(fieldValues: [String]) -> [Member]? {
        parseAll(fieldValues) { $0.list() }
    }

    /// Parses a dictionary from the lines of its field (RFC 9651 §4.2.2); empty without lines, `nil` if malformed.
    public static func dictionary(fieldValues: [String]) -> Dictionary? {
        parseAll(fieldValues) { $0.dictionary() }
    }

    /// Runs a parser on all lines, joined by commas, and returns `nil` unless it consumes all of them.
    private static func parseAll<Value>(_ lines: [String], _ parse: (inout StructuredFieldParser) -> Value?) -> Value? {
        var parser = StructuredFieldParser(lines.count == 1 ? lines[0] : lines.joined(separator: ", "))
        guard let value = parse(&parser), parser.isAtEnd else { return nil }
        return value
    }
}
