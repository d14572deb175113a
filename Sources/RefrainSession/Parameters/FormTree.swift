#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The members of an `Encodable` value, as a form writes them.
///
/// Not by way of JSON, which has one kind of number: in a form a number stands with all of its digits, as it was given.
/// Dates, data and URLs have the forms that `JSONEncoder` gives them.
enum FormTree {
    /// The members of a value.
    ///
    /// - Throws: `EncodingError` where the value has no named members, or a number is none.
    static func members(of value: some Encodable) throws -> Parameters {
        let root = FormNode()
        try root.put(encodable: value, at: [])
        guard case .dictionary(let members) = root.value else {
            let context = EncodingError.Context(codingPath: [], debugDescription: "the value has no named members")
            throw EncodingError.invalidValue(value, context)
        }
        return members
    }
}
