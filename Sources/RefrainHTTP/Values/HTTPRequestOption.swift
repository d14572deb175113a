/// A setting that travels with a request, for a stage of the chain to read.
///
/// ```swift
/// enum Priority: HTTPRequestOption { static let defaultValue = 0 }
/// request[option: Priority.self] = 3
/// ```
///
/// The type is the key, so that a stage and its callers agree without a global table. The idea is
/// from "HTTP in Swift".
public protocol HTTPRequestOption<Value> {
    /// The type of the setting.
    associatedtype Value: Sendable

    /// The value of requests that do not set the option.
    static var defaultValue: Value { get }
}

extension HTTPRequest {
    /// The value of an option.
    public subscript<Option: HTTPRequestOption>(option type: Option.Type) -> Option.Value {
        get { options[type] }
        set { options[type] = newValue }
    }
}

/// Option values by option type.
struct OptionValues: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    subscript<Option: HTTPRequestOption>(type: Option.Type) -> Option.Value {
        get {
            guard !values.isEmpty, let value = values[ObjectIdentifier(type)] as? Option.Value else {
                return Option.defaultValue
            }
            return value
        }
        set { values[ObjectIdentifier(type)] = newValue }
    }

    /// The values that were set, if each of them can be compared; nil otherwise.
    var comparable: [ObjectIdentifier: AnyHashable]? {
        var comparable: [ObjectIdentifier: AnyHashable] = [:]
        for (key, value) in values where !(value is any NotCompared) {
            if let value = value as? any Hashable {
                comparable[key] = AnyHashable(value)
            } else if let optional = value as? any OptionalValue, optional.isNil {
                comparable[key] = AnyHashable(NoValue())
            } else {
                return nil
            }
        }
        return comparable
    }
}

/// A value of an option that says nothing of how the request is to be treated, only on whose behalf it is made.
package protocol NotCompared: Sendable {}

/// Sees that there is no value, whatever type it would have had.
private protocol OptionalValue { var isNil: Bool { get } }

extension Optional: OptionalValue {
    fileprivate var isNil: Bool { self == nil }
}

private struct NoValue: Hashable {}
