extension JSONEncoding {
    /// A value that JSON can represent, written with Swift literals.
    ///
    /// ```swift
    /// let parameters: Parameters = ["name": "Ada", "ids": [1, 2], "address": ["city": "London", "zip": nil]]
    /// ```
    public enum Value: Hashable, Sendable {
        /// Makes text.
        case string(String)
        /// An integer.
        case int(Int64)
        /// A floating-point number.
        case double(Double)
        /// A boolean.
        case bool(Bool)
        /// Makes a list.
        case array([Value])
        /// A dictionary.
        case dictionary([String: Value])
        /// Null.
        case null
    }
}

/// Named parameters.
public typealias Parameters = [String: JSONEncoding.Value]

extension JSONEncoding.Value: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// Makes text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes an integer.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// Makes a floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Makes a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes a list.
    public init(arrayLiteral elements: JSONEncoding.Value...) { self = .array(elements) }
    /// Makes a dictionary; the last value of a repeated key is used.
    public init(dictionaryLiteral elements: (String, JSONEncoding.Value)...) {
        self = .dictionary(Dictionary(elements) { $1 })
    }
    /// Makes null.
    public init(nilLiteral: ()) { self = .null }
}

extension JSONEncoding.Value: Codable {
    /// Decodes any value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONEncoding.Value].self) {
            self = .array(value)
        } else {
            self = .dictionary(try container.decode([String: JSONEncoding.Value].self))
        }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .dictionary(let value): try container.encode(value)
        case .null: try container.encodeNil()
        }
    }
}
