#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
