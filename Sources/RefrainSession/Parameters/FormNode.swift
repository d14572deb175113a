#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
