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
