// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The reason that a line of a batch is invalid.
struct BatchRefusal: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The members of an object, read with messages that name them; null counts as missing.
struct BatchMembers<Key: CodingKey & RawRepresentable<String>> {
    private let container: KeyedDecodingContainer<Key>

    init(_ container: KeyedDecodingContainer<Key>) { self.container = container }

    func text(_ key: Key) throws(BatchRefusal) -> String? {
        try read(String.self, key, "a string")
    }

    func integer(_ key: Key, in range: ClosedRange<Int>) throws(BatchRefusal) -> Int? {
        guard let number = try read(Int.self, key, "a whole number") else { return nil }
        guard range.contains(number) else { throw outOfRange(key) }
        return number
    }

    func number(_ key: Key, in range: ClosedRange<Double>) throws(BatchRefusal) -> Double? {
        guard let number = try read(Double.self, key, "a number") else { return nil }
        guard range.contains(number) else { throw outOfRange(key) }
        return number
    }

    /// A text that is one of several.
    func choice<Choice>(_ key: Key) throws(BatchRefusal) -> Choice?
    where Choice: RawRepresentable<String> & CaseIterable {
        guard let text = try text(key) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let known = Choice.allCases.map(\.rawValue)
        let advice =
            known.count <= 6
            ? "it is one of \(known.joined(separator: ", "))"
            : SuggestionFinder.nearest(to: text, among: known).map { "did you mean \($0)?" } ?? "it is not a known code"
        throw BatchRefusal("\(key.rawValue) is \(Sanitized.text(text)); \(advice)")
    }

    /// A list of pairs of name and value.
    func headers(_ key: Key) throws(BatchRefusal) -> HTTPHeaders {
        guard let pairs = try read([[String]].self, key, "a list of pairs of strings") else { return [:] }
        var headers = HTTPHeaders()
        headers.reserveCapacity(pairs.count)
        for pair in pairs {
            guard pair.count == 2 else {
                throw BatchRefusal("\(key.rawValue) is not a list of pairs: one has \(pair.count) members")
            }
            headers.add(pair[0], pair[1])
        }
        return headers
    }

    private func read<Value: Decodable>(
        _ type: Value.Type,
        _ key: Key,
        _ expected: String
    ) throws(BatchRefusal) -> Value? {
        do {
            return try container.decodeIfPresent(type, forKey: key)
        } catch {
            throw BatchRefusal("\(key.rawValue) is not \(expected), or out of range")
        }
    }

    private func outOfRange(_ key: Key) -> BatchRefusal { BatchRefusal("\(key.rawValue) is out of range") }
}
