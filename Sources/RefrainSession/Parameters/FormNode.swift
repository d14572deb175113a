#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A value while it is written: the containers that an encoder hands out write into the same one.
final class FormNode {
    private var single: ParameterValue?
    private var list: [FormNode]?
    private var members: [String: FormNode]?

    /// What was written.
    var value: ParameterValue {
        if let single { return single }
        if let list { return .array(list.map(\.value)) }
        // As in JSON, what writes nothing of itself is empty.
        return .dictionary(members?.mapValues(\.value) ?? [:])
    }

    var count: Int { list?.count ?? 0 }

    func becomeList() { list = list ?? [] }

    func becomeMembers() { members = members ?? [:] }

    /// A new element at the end of the list.
    func element() -> FormNode {
        let node = FormNode()
        list?.append(node)
        return node
    }

    /// A new member, in place of one of that name.
    func member(_ name: String) -> FormNode {
        let node = FormNode()
        members?[name] = node
        return node
    }

    /// The member of that name, which is made where there is none.
    func nestedMember(_ name: String) -> FormNode { members?[name] ?? member(name) }

    func put(_ value: ParameterValue) { single = value }

    func put(integer: some BinaryInteger) {
        single = Int64(exactly: integer).map { .int($0) } ?? .string("\(integer)")
    }

    func put<Number: BinaryFloatingPoint & CustomStringConvertible>(real: Number, at path: [any CodingKey]) throws {
        guard real.isFinite else { throw Self.noNumber(real, path) }
        single = .string(real.description)
    }

    func put(encodable value: some Encodable, at path: [any CodingKey]) throws {
        switch value {
        case let number as Decimal:
            guard number.isFinite else { throw Self.noNumber(number, path) }
            single = .string(number.description)
        case let data as Data: single = .string(data.base64EncodedString())
        case let url as URL: single = .string(url.absoluteString)
        default: try value.encode(to: FormEncoder(node: self, codingPath: path))
        }
    }

    private static func noNumber(_ number: Any, _ path: [any CodingKey]) -> EncodingError {
        .invalidValue(number, EncodingError.Context(codingPath: path, debugDescription: "a form has no such number"))
    }
}
