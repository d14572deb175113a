// SPDX-License-Identifier: Apache-2.0
/// A sum of numbers and of members of a JSON object, such as `usage.input_tokens+usage.output_tokens`, or
/// `max_tokens+200`.
struct CostText: Sendable {
    private var constant = 0.0
    private var paths: [[String]] = []

    init(_ text: String, option: String) throws(UsageError) {
        for term in text.split(separator: "+", omittingEmptySubsequences: false) {
            if let number = ASCIINumber.decimal(term) {
                constant += number
                continue
            }
            let names = (term.hasPrefix(".") ? term.dropFirst() : term)
                .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard !names.contains("") else {
                throw .badValue(text, of: option, "is not a sum of members; write usage.total_tokens or max_tokens+200")
            }
            paths.append(names)
        }
    }

    /// The sum for a document; nil if it has none of the members.
    func value(in document: [UInt8]) -> Double? {
        guard !paths.isEmpty else { return constant }
        guard let root = try? JSONNode.parse(document) else { return nil }
        let numbers = paths.compactMap { path -> Double? in
            let node = path.reduce(Optional(root)) { node, name in node?[name] }
            guard case .number(let number)? = node?.value, number >= 0 else { return nil }
            return number
        }
        return numbers.isEmpty ? nil : numbers.reduce(constant, +)
    }
}
