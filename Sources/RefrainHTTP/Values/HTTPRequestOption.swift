// SPDX-License-Identifier: Apache-2.0
/// A typed setting of a request that a stage of the chain reads.
///
/// ```swift
/// enum Priority: HTTPRequestOption { static let defaultValue = 0 }
/// request[option: Priority.self] = 3
/// ```
///
/// The type is the key, so options need no global table.
public protocol HTTPRequestOption<Value> {
    /// The type of the setting.
    associatedtype Value: Sendable

    /// The value for requests that do not set the option.
    ///
    /// A conformer implements this, or ``defaultOptionValue``.
    static var defaultValue: Value { get }

    /// The same, under its name in "HTTP in Swift".
    static var defaultOptionValue: Value { get }
}

extension HTTPRequestOption {
    // Each stands for the other. A type that has neither does not compile: its `Value` is known from one of them alone.
    /// The other one.
    public static var defaultValue: Value { defaultOptionValue }
    /// The other one.
    public static var defaultOptionValue: Value { defaultValue }
}

extension HTTPRequest {
    /// The value of an option.
    public subscript<Option: HTTPRequestOption>(option type: Option.Type) -> Option.Value {
        get { options[type] }
        set { options[type] = newValue }
    }
}

extension HTTPRequest {
    /// Returns this request as a replacement of `original`: with the options of `original` that are not set here, and
    /// without the header fields that a redirect has removed.
    package func keepingOptions(of original: HTTPRequest) -> HTTPRequest {
        guard options.lacksAny(of: original.options) else { return withoutDroppedHeaders() }
        var copy = self
        copy.options.fill(from: original.options)
        return copy.withoutDroppedHeaders()
    }
}

/// Option values by option type, in a linked list with the most recently set option first.
///
/// A request has few options. The list is copied by copying its first reference, is read without a cast, and costs one
/// allocation per option that is set.
struct OptionValues: Sendable {
    private var first: OptionNode?

    subscript<Option: HTTPRequestOption>(type: Option.Type) -> Option.Value {
        get {
            guard let node = first?.node(of: ObjectIdentifier(type)) else { return Option.defaultValue }
            // Only the setter makes nodes, and under this key only nodes of this class.
            return unsafeDowncast(node, to: OptionValue<Option>.self).value
        }
        set { first = OptionValue<Option>(newValue, before: Self.list(first, without: ObjectIdentifier(type))) }
    }

    /// The values that were set, or nil if one of them is not Hashable.
    var comparable: [ObjectIdentifier: AnyHashable]? {
        var comparable: [ObjectIdentifier: AnyHashable] = [:]
        var node = first
        while let current = node {
            guard let value = current.comparable else { return nil }
            comparable[current.key] = value
            node = current.next
        }
        return comparable
    }

    /// Whether an option is set in `other` and not here.
    func lacksAny(of other: OptionValues) -> Bool {
        // A copy usually ends in the list that it was copied from.
        guard let other = other.first, first?.leads(to: other) != true else { return false }
        return Self.nodes(from: other).contains { !isSet($0.key) }
    }

    /// Copies the options that are set in `other` and not here.
    mutating func fill(from other: OptionValues) {
        for node in Self.nodes(from: other.first) where !isSet(node.key) { first = node.copy(before: first) }
    }

    private func isSet(_ key: ObjectIdentifier) -> Bool { first?.node(of: key) != nil }

    private static func nodes(from first: OptionNode?) -> some Sequence<OptionNode> {
        sequence(state: first) { node in
            defer { node = node?.next }
            return node
        }
    }

    /// The list without the node of a key.
    ///
    /// Nodes are shared, so the nodes before that one are copied.
    private static func list(_ first: OptionNode?, without key: ObjectIdentifier) -> OptionNode? {
        // Mostly the option was not set.
        guard let node = first?.node(of: key) else { return first }
        return nodes(from: first).prefix { $0 !== node }.reversed().reduce(node.next) { $1.copy(before: $0) }
    }
}

/// A node of the option list.
private class OptionNode: @unchecked Sendable {
    // @unchecked Sendable: nothing changes after the initializer, and values of options are Sendable.
    let key: ObjectIdentifier
    let next: OptionNode?

    init(_ key: ObjectIdentifier, before next: OptionNode?) {
        self.key = key
        self.next = next
    }

    /// The value, if it is Hashable.
    var comparable: AnyHashable? { nil }

    func copy(before next: OptionNode?) -> OptionNode { self }

    /// This node, or the next one with the key.
    ///
    /// Recursive, so that no node is retained on the way: options are read some fifty times for each request.
    final func node(of key: ObjectIdentifier) -> OptionNode? { self.key == key ? self : next?.node(of: key) }

    /// Whether this is the node, or one before it.
    final func leads(to node: OptionNode) -> Bool { self === node || next?.leads(to: node) == true }
}

/// A node with the value of an option.
private final class OptionValue<Option: HTTPRequestOption>: OptionNode, @unchecked Sendable {
    // @unchecked Sendable: as `OptionNode`.
    let value: Option.Value

    init(_ value: Option.Value, before next: OptionNode?) {
        self.value = value
        super.init(ObjectIdentifier(Option.self), before: next)
    }

    override var comparable: AnyHashable? {
        if let value = value as? any Hashable { return AnyHashable(value) }
        guard let optional = value as? any OptionalValue, optional.isNil else { return nil }
        return AnyHashable(NoValue())
    }

    override func copy(before next: OptionNode?) -> OptionNode { OptionValue(value, before: next) }
}

/// Tells whether an optional of any type is nil.
private protocol OptionalValue { var isNil: Bool { get } }

extension Optional: OptionalValue {
    fileprivate var isNil: Bool { self == nil }
}

private struct NoValue: Hashable {}
