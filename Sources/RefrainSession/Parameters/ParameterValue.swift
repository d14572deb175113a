/// A parameter: what JSON can say, written as plain Swift literals.
///
/// ```swift
/// let parameters: Parameters = ["name": "Ada", "ids": [1, 2], "address": ["city": "London", "zip": nil]]
/// ```
public enum ParameterValue: Hashable, Sendable {
    /// Text.
    case string(String)
    /// A whole number.
    case int(Int64)
    /// A number.
    case double(Double)
    /// True or false.
    case bool(Bool)
    /// A list.
    case array([ParameterValue])
    /// Named values.
    case dictionary([String: ParameterValue])
    /// Nothing.
    case null
}

/// Named parameters.
public typealias Parameters = [String: ParameterValue]

extension ParameterValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A list.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }
    /// Named values; of a name that stands twice, the last value counts.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .dictionary(Dictionary(elements) { $1 })
    }
    /// Nothing.
    public init(nilLiteral: ()) { self = .null }
}

extension ParameterValue: Codable {
    /// Reads any value.
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
        } else if let value = try? container.decode([ParameterValue].self) {
            self = .array(value)
        } else {
            self = .dictionary(try container.decode([String: ParameterValue].self))
        }
    }

    /// Writes the value.
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
