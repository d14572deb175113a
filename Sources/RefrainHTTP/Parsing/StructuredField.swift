// SPDX-License-Identifier: Apache-2.0
/// Structured fields (RFC 9651): lists, dictionaries and items with parameters.
///
/// Parsing is strict, as the RFC requires: one invalid character makes the whole field malformed, and parsing returns
/// `nil`.
package enum StructuredField {
    /// A value without its parameters (RFC 9651 §3.3).
    package enum BareItem: Hashable, Sendable {
        /// An integer of up to 15 digits.
        case integer(Int64)
        /// A decimal with up to 12 digits before the point and up to 3 after it.
        case decimal(Decimal)
        /// Printable ASCII text.
        case string(String)
        /// An unquoted identifier.
        case token(String)
        /// Bytes, encoded as Base64.
        case bytes([UInt8])
        /// `?1` or `?0`, which mean true and false.
        case boolean(Bool)
        /// Whole seconds since 1970-01-01T00:00:00Z.
        case date(Int64)
        /// Unicode text for display.
        case displayString(String)
    }

    /// A decimal number with exactly three places.
    package struct Decimal: Hashable, Sendable {
        /// The number times a thousand.
        package var thousandths: Int64

        /// Makes a decimal from its thousandths.
        package init(thousandths: Int64) { self.thousandths = thousandths }
    }

    /// The parameters of an item or of an inner list (RFC 9651 §3.1.2).
    package typealias Parameters = Members<BareItem>

    /// A value with its parameters (RFC 9651 §3.3).
    package struct Item: Hashable, Sendable {
        /// The value itself.
        package var value: BareItem
        /// The parameters.
        package var parameters: Parameters

        /// Makes an item.
        package init(_ value: BareItem, parameters: Parameters = Parameters()) {
            self.value = value
            self.parameters = parameters
        }
    }

    /// A list within a list or a dictionary (RFC 9651 §3.1.1).
    package struct InnerList: Hashable, Sendable {
        /// The items, in order.
        package var items: [Item]
        /// The parameters of the list as a whole.
        package var parameters: Parameters

        /// Makes an inner list.
        package init(_ items: [Item], parameters: Parameters = Parameters()) {
            self.items = items
            self.parameters = parameters
        }
    }

    /// A member of a list, or a value of a dictionary.
    package enum Member: Hashable, Sendable {
        /// A single value.
        case item(Item)
        /// Several values, in parentheses.
        case innerList(InnerList)
    }

    /// A dictionary (RFC 9651 §3.2).
    package typealias Dictionary = Members<Member>
}

extension StructuredField {
    /// Keys and values in the order of the field.
    ///
    /// A repeated key keeps its first position and its last value (RFC 9651 §4.2.2).
    public struct Members<Value: Hashable & Sendable>: Hashable, Sendable {
        /// The keys, in order.
        public private(set) var keys: [String] = []
        private var values: [String: Value] = [:]

        /// Makes an empty collection.
        public init() {}

        /// Whether the collection is empty.
        public var isEmpty: Bool { keys.isEmpty }

        /// The value of a key, or `nil`.
        ///
        /// A value set for a new key is appended.
        public subscript(key: String) -> Value? {
            get { values[key] }
            set {
                let old = values.updateOrRemove(newValue, forKey: key)
                if old == nil, newValue != nil { keys.append(key) }
                if old != nil, newValue == nil { keys.removeAll { $0 == key } }
            }
        }
    }
}

extension Dictionary {
    /// Sets or removes a value, and returns the previous one.
    fileprivate mutating func updateOrRemove(_ value: Value?, forKey key: Key) -> Value? {
        if let value { updateValue(value, forKey: key) } else { removeValue(forKey: key) }
    }
}

extension StructuredField {
    /// Parses an item from the lines of its field (RFC 9651 §4.2.3); returns `nil` if they are malformed.
    public static func item(fieldValues: [String]) -> Item? {
        parseAll(fieldValues) { $0.item() }
    }

    /// Parses a list from the lines of its field (RFC 9651 §4.2.1); empty without lines, `nil` if they are malformed.
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

extension StructuredField {
    /// Serializes a string item (RFC 9651 §4.1.6), such as an idempotency key.
    ///
    /// - Returns: the quoted string, or `nil` if the text contains characters other than printable ASCII.
    public static func serialize(_ string: String) -> String? {
        var result = "\""
        for scalar in string.unicodeScalars {
            guard (0x20...0x7E).contains(scalar.value) else { return nil }
            if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }
}

/// The parsing algorithms of RFC 9651 §4.2.
struct StructuredFieldParser {
    private var scanner: FieldScanner

    /// Keeps surrounding tabs, which the grammar does not allow.
    init(_ value: String) { scanner = FieldScanner(spacesAround: value) }

    var isAtEnd: Bool { scanner.isAtEnd }

    mutating func list() -> [StructuredField.Member]? {
        var members: [StructuredField.Member] = []
        while !scanner.isAtEnd {
            guard let member = member() else { return nil }
            members.append(member)
            guard separator() else { return nil }
        }
        return members
    }

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

extension FieldScanner {
    /// Takes a bare item (RFC 9651 §4.2.3.1).
    ///
    /// Its first character determines its type.
    mutating func takeBareItem() -> StructuredField.BareItem? {
        guard let first = current else { return nil }
        switch first {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return takeSignedNumber()
        case .quote: return takeString()
        case UInt8(ascii: ":"): return takeByteSequence()
        case UInt8(ascii: "?"): return takeBoolean()
        case UInt8(ascii: "@"): return takeDate()
        case UInt8(ascii: "%"): return takeDisplayString()
        case _ where first.isLetter || first == UInt8(ascii: "*"):
            let token = take { $0.isTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
            return .token(String(decoding: token, as: UTF8.self))
        default: return nil
        }
    }

    /// Takes an integer or a decimal (RFC 9651 §4.2.4).
    private mutating func takeSignedNumber() -> StructuredField.BareItem? {
        let sign: Int64 = take("-") ? -1 : 1
        let integer = take { $0.isDigit }
        guard let number = FieldNumber.exact(integer) else { return nil }
        guard take(".") else { return integer.count <= 15 ? .integer(sign * number) : nil }
        let places = take { $0.isDigit }
        guard integer.count <= 12, (1...3).contains(places.count) else { return nil }
        guard let fraction = FieldNumber.exact(places) else { return nil }
        let scaled = places.count == 3 ? fraction : places.count == 2 ? fraction * 10 : fraction * 100
        return .decimal(StructuredField.Decimal(thousandths: sign * (number * 1000 + scaled)))
    }

    /// Takes a string (RFC 9651 §4.2.5).
    ///
    /// Only quotes and backslashes may be escaped.
    private mutating func takeString() -> StructuredField.BareItem? {
        guard take(.quote) else { return nil }
        var content: [UInt8] = []
        while let byte = next() {
            switch byte {
            case .quote: return .string(String(decoding: content, as: UTF8.self))
            case .backslash:
                guard let escaped = next(), escaped == .quote || escaped == .backslash else { return nil }
                content.append(escaped)
            case 0x20...0x7E: content.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private mutating func takeBoolean() -> StructuredField.BareItem? {
        if take("?1") { return .boolean(true) }
        return take("?0") ? .boolean(false) : nil
    }

    private mutating func takeDate() -> StructuredField.BareItem? {
        guard take("@"), case .integer(let seconds)? = takeSignedNumber() else { return nil }
        return .date(seconds)
    }

    /// Takes a byte sequence (RFC 9651 §4.2.7).
    ///
    /// Padding may be missing, and its bits may have any value.
    private mutating func takeByteSequence() -> StructuredField.BareItem? {
        guard take(":") else { return nil }
        var content: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount = 0
        var digits = 0
        while let digit = current.flatMap(Self.base64Value) {
            _ = next()
            digits += 1
            bits = (bits << 6 | UInt32(digit)) & 0xFFFF
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                content.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        let padding = take { $0 == .equals }
        guard digits % 4 != 1, padding.isEmpty || (digits + padding.count) % 4 == 0 && padding.count <= 2 else {
            return nil
        }
        return take(":") ? .bytes(content) : nil
    }

    private static func base64Value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - .zero + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    /// Takes a display string (RFC 9651 §4.2.10): UTF-8 with lower-case percent escapes.
    private mutating func takeDisplayString() -> StructuredField.BareItem? {
        guard take("%\"") else { return nil }
        var content: [UInt8] = []
        while let byte = next() {
            switch byte {
            case .quote: return String(validating: content, as: UTF8.self).map(StructuredField.BareItem.displayString)
            case UInt8(ascii: "%"):
                guard let high = next().flatMap(Self.hexadecimalValue) else { return nil }
                guard let low = next().flatMap(Self.hexadecimalValue) else { return nil }
                content.append(high << 4 | low)
            case 0x20...0x7E: content.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        if byte.isDigit { return byte - .zero }
        return byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f") ? byte - UInt8(ascii: "a") + 10 : nil
    }
}
