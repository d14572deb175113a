/// The parsing algorithms of RFC 9651 §4.2.
struct StructuredFieldParser {
    private var scanner: FieldScanner

    /// Keeps surrounding tabs, which the grammar does not allow.
    init(_ value: String) { scanner = FieldScanner(spacesAround: value) }

    var isAtEnd: Bool { scanner.isAtEnd }

    @_optimize(none)
    mutating func list() -> [StructuredField.Member]? {
        var members: [StructuredField.Member] = []
        while !scanner.isAtEnd {
            guard let member = member() else { return nil }
            members.append(member)
            guard separator() else { return nil }
        }
        return members
    }

    @_optimize(none)
    mutating func dictionary() -> StructuredField.Dictionary? {
        var members = StructuredField.Dictionary()
        while !scanner.isAtEnd {
            guard let key = key() else { return nil }
            if scanner.take(.equals) {
                guard let member = member() else { return nil }
                members[key] = member
            } else {
                guard let parameters = parameters() else { return nil }
                members[key] = .item(StructuredField.Item(.boolean(true), parameters: parameters))
            }
            guard separator() else { return nil }
        }
        return members
    }

    mutating func item() -> StructuredField.Item? {
        guard let value = scanner.takeBareItem(), let parameters = parameters() else { return nil }
        return StructuredField.Item(value, parameters: parameters)
    }

    @_optimize(none)
    private mutating func member() -> StructuredField.Member? {
        guard scanner.take("(") else { return item().map(StructuredField.Member.item) }
        var items: [StructuredField.Item] = []
        while true {
            skipSpaces()
            if scanner.take(")") { break }
            guard let item = item() else { return nil }
            items.append(item)
            guard scanner.current == .space || scanner.current == UInt8(ascii: ")") else { return nil }
        }
        guard let parameters = parameters() else { return nil }
        return .innerList(StructuredField.InnerList(items, parameters: parameters))
    }

    @_optimize(none)
    private mutating func parameters() -> StructuredField.Parameters? {
        var parameters = StructuredField.Parameters()
        while scanner.take(.semicolon) {
            skipSpaces()
            guard let key = key() else { return nil }
            guard scanner.take(.equals) else {
                parameters[key] = .boolean(true)
                continue
            }
            guard let value = scanner.takeBareItem() else { return nil }
            parameters[key] = value
        }
        return parameters
    }

    @_optimize(none)
    private mutating func key() -> String? {
        guard let first = scanner.current, first.isLowercaseLetter || first == UInt8(ascii: "*") else { return nil }
        let key = scanner.take { byte in
            byte.isLowercaseLetter || byte.isDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "*")
        }
        return String(decoding: key, as: UTF8.self)
    }

    /// Takes the separator after a member: the end, or a comma followed by another member.
    private mutating func separator() -> Bool {
        scanner.skipWhitespace()
        if scanner.isAtEnd { return true }
        guard scanner.take(.comma) else { return false }
        scanner.skipWhitespace()
        return !scanner.isAtEnd
    }

    private mutating func skipSpaces() { _ = scanner.take { $0 == .space } }
}
