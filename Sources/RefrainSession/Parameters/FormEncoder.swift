// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An encoder that writes a value into a node; its three containers differ only in the position of the next value.
struct FormEncoder: Encoder {
    let node: FormNode
    let codingPath: [any CodingKey]

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeMembers()
        return KeyedEncodingContainer(FormMembers(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeList()
        return FormList(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { FormSingle(node: node, codingPath: codingPath) }
}

/// Coding keys of list elements, which have no names.
private struct ElementKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }

    static let parent = ElementKey(stringValue: "super")
}

private struct FormSingle: SingleValueEncodingContainer {
    let node: FormNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.put(.null) }
    func encode(_ value: Bool) { node.put(.bool(value)) }
    func encode(_ value: String) { node.put(.string(value)) }
    func encode(_ value: Double) throws { try node.put(real: value, at: codingPath) }
    func encode(_ value: Float) throws { try node.put(real: value, at: codingPath) }
    func encode(_ value: Int) { node.put(integer: value) }
    func encode(_ value: Int8) { node.put(integer: value) }
    func encode(_ value: Int16) { node.put(integer: value) }
    func encode(_ value: Int32) { node.put(integer: value) }
    func encode(_ value: Int64) { node.put(integer: value) }
    func encode(_ value: UInt) { node.put(integer: value) }
    func encode(_ value: UInt8) { node.put(integer: value) }
    func encode(_ value: UInt16) { node.put(integer: value) }
    func encode(_ value: UInt32) { node.put(integer: value) }
    func encode(_ value: UInt64) { node.put(integer: value) }
    func encode<Value: Encodable>(_ value: Value) throws { try node.put(encodable: value, at: codingPath) }
}

private struct FormList: UnkeyedEncodingContainer {
    let node: FormNode
    let codingPath: [any CodingKey]

    var count: Int { node.count }

    private var path: [any CodingKey] { codingPath + [ElementKey(intValue: count)] }

    func encodeNil() { node.element().put(.null) }

    // Numbers and text also pass through here; they encode themselves as a single value.
    func encode<Value: Encodable>(_ value: Value) throws {
        let path = path
        try node.element().put(encodable: value, at: path)
    }

    func nestedContainer<Key: CodingKey>(keyedBy keyType: Key.Type) -> KeyedEncodingContainer<Key> {
        let path = path
        return FormEncoder(node: node.element(), codingPath: path).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let path = path
        return FormEncoder(node: node.element(), codingPath: path).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        let path = path
        guard !node.encoding.followsAlamofire else { return FormEncoder(node: node, codingPath: codingPath) }
        return FormEncoder(node: node.element(), codingPath: path)
    }
}

private struct FormMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: FormNode
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { node.member(key.stringValue).put(.null) }

    // Numbers and text also pass through here; they encode themselves as a single value.
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try node.member(key.stringValue).put(encodable: value, at: codingPath + [key])
    }

    // An optional member of an ordinary value: by default these would leave out a key whose value is nil, and
    // `URLEncoding.Form.nils` could not write it.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        try encodeOrNil(value, forKey: key)
    }

    private func encodeOrNil(_ value: (some Encodable)?, forKey key: Key) throws {
        guard let value else { return encodeNil(forKey: key) }
        try encode(value, forKey: key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        nested(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }

    func superEncoder() -> any Encoder {
        guard !node.encoding.followsAlamofire else { return FormEncoder(node: node, codingPath: codingPath) }
        return nested(ElementKey.parent)
    }

    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: any CodingKey) -> FormEncoder {
        FormEncoder(node: node.nestedMember(key.stringValue), codingPath: codingPath + [key])
    }
}

/// A value under construction, shared by all containers of one encoder.
final class FormNode {
    let encoding: URLEncoding.Form
    private var single: JSONEncoding.Value?
    private var list: [FormNode]?
    private var members: [String: FormNode]?

    /// The encoded value.
    var value: JSONEncoding.Value {
        if let single { return single }
        if let list, !list.isEmpty || members == nil { return .array(list.map(\.value)) }
        // As in JSON, a value that encodes nothing is an empty dictionary.
        return .dictionary(members?.mapValues(\.value) ?? [:])
    }

    var count: Int { list?.count ?? 0 }

    init(_ encoding: URLEncoding.Form) { self.encoding = encoding }

    func becomeList() { list = list ?? [] }

    /// A value that was encoded under the same key before is replaced.
    func becomeMembers() {
        members = members ?? [:]
        single = nil
        list = nil
    }

    /// Appends an element to the list.
    func element() -> FormNode {
        let node = FormNode(encoding)
        list?.append(node)
        return node
    }

    /// Adds a member, and replaces an existing one of that name.
    func member(_ name: String) -> FormNode {
        let node = FormNode(encoding)
        members?[name] = node
        return node
    }

    /// The member of that name, added if it does not exist.
    func nestedMember(_ name: String) -> FormNode { members?[name] ?? member(name) }

    func put(_ value: JSONEncoding.Value) { single = value }

    func put(integer: some BinaryInteger) {
        single = Int64(exactly: integer).map { .int($0) } ?? .string("\(integer)")
    }

    func put<Number: BinaryFloatingPoint & CustomStringConvertible>(real: Number, at path: [any CodingKey]) throws {
        guard real.isFinite else { throw Self.notFinite(real, path) }
        single = .string(real.description)
    }

    func put(encodable value: some Encodable, at path: [any CodingKey]) throws {
        switch value {
        case let number as Decimal:
            guard number.isFinite else { throw Self.notFinite(number, path) }
            single = .string(number.description)
        case let data as Data:
            guard let text = try encoding.data.text(data) else { return try encode(value, at: path) }
            single = .string(text)
        case let date as Date:
            guard let text = try encoding.dates.text(date) else { return try encode(value, at: path) }
            single = .string(text)
        case let url as URL: single = .string(url.absoluteString)
        default: try encode(value, at: path)
        }
    }

    private func encode(_ value: some Encodable, at path: [any CodingKey]) throws {
        try value.encode(to: FormEncoder(node: self, codingPath: path))
    }

    private static func notFinite(_ number: Any, _ path: [any CodingKey]) -> EncodingError {
        .invalidValue(number, EncodingError.Context(codingPath: path, debugDescription: "a form has no such number"))
    }
}

/// The members of an `Encodable` value, for a form.
///
/// It is not based on JSON, whose numbers would lose digits. Dates, data and URLs are encoded as `JSONEncoder` does.
package enum FormTree {
    /// Returns the members of a value.
    ///
    /// - Throws: `EncodingError` if the value has no named members or contains a number that is not finite.
    package static func members(of value: some Encodable, by encoding: URLEncoding.Form) throws -> Parameters {
        let root = FormNode(encoding)
        try root.put(encodable: value, at: [])
        guard case .dictionary(let members) = root.value else {
            let context = EncodingError.Context(codingPath: [], debugDescription: "the value has no named members")
            throw EncodingError.invalidValue(value, context)
        }
        return members
    }
}
