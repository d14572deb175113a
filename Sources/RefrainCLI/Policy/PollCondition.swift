// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The condition that ends polling: `--until 'STATUS in 200,404'`, `--until-json '.state == "done"'`.
struct PollCondition: Sendable {
    private let statuses: Set<HTTPStatus>?
    private let comparison: Comparison?

    /// The default time limit.
    static let standardWindow = Duration.seconds(600)

    /// A value of the response, compared with a given one.
    fileprivate struct Comparison: Sendable {
        let path: [String]
        let operation: String
        let value: JSONNode
        /// The text that the value was read from.
        let text: [UInt8]
    }

    /// Reads the options; nil where there are none.
    init?(_ arguments: Arguments) throws(UsageError) {
        guard arguments.has(.until) || arguments.has(.untilJSON) else { return nil }
        statuses = try arguments.last(.until).map { text throws(UsageError) in try Self.statuses(text) }
        comparison = try arguments.last(.untilJSON).map { text throws(UsageError) in try Self.comparison(text) }
    }

    private static func statuses(_ text: String) throws(UsageError) -> Set<HTTPStatus> {
        let words = text.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count == 3, words[0].uppercased() == "STATUS", ["in", "="].contains(words[1]) else {
            throw .badValue(
                text,
                of: "--until",
                "is not a condition; write 'STATUS in 200,404', or --until-json for a value in the response"
            )
        }
        return try StatusListText(words[2].replacing(" ", with: ""), option: "--until").statuses
    }

    private static func comparison(_ text: String) throws(UsageError) -> Comparison {
        func refuse(_ what: String) -> UsageError { .badValue(text, of: "--until-json", what) }
        let operations = ["==", "!=", "<=", ">=", "<", ">"]
        let found = operations.compactMap { operation in text.firstRange(of: operation).map { (operation, $0) } }
        // The first one, and of two at the same index the longer one.
        let first = found.min {
            ($0.1.lowerBound, $1.0.count) < ($1.1.lowerBound, $0.0.count)
        }
        guard let (operation, range) = first else {
            throw refuse("is not a comparison; write '.state == \"done\"' or '/items/0/ready == true'")
        }
        let path = String(text[..<range.lowerBound]).trimmedOfWhiteSpace
        let value: JSONNode
        let valueText = Array(String(text[range.upperBound...]).trimmedOfWhiteSpace.utf8)
        do throws(JSONNode.Failure) {
            value = try JSONNode.parse(valueText)
        } catch {
            throw refuse("compares with text that is not JSON: \(error); write a text in quotation marks")
        }
        // No order and no equality is defined for other values, so the condition would always or never hold.
        switch value.value {
        case .number, .string: break
        case .bool, .null:
            guard ["==", "!="].contains(operation) else { throw refuse("can only ask whether it is equal, or not") }
        default: throw refuse("must compare with a text, a number, true, false or null")
        }
        if path.hasPrefix("/") {
            // A JSON Pointer (RFC 6901).
            let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
            let names = parts.map { $0.replacing("~1", with: "/").replacing("~0", with: "~") }
            return Comparison(path: names.map { String($0) }, operation: operation, value: value, text: valueText)
        }
        guard path.hasPrefix(".") else { throw refuse("must begin with a dot or a slash") }
        // What jq reads in another way would be taken for names that no response has.
        let indices = path.split(separator: "[", omittingEmptySubsequences: false).dropFirst().map {
            $0.prefix { $0 != "]" }
        }
        guard !path.contains(where: { "\"'|()?*{}".contains($0) }), indices.allSatisfy({ ASCIINumber.whole($0) != nil })
        else {
            throw refuse("has a path that is not understood; write .items[0].state, or '/items/0/any name'")
        }
        let names = path.replacing("[", with: ".").replacing("]", with: "").split(separator: ".").map(String.init)
        return Comparison(path: names, operation: operation, value: value, text: valueText)
    }

    /// Whether a response meets the condition.
    func holds(for response: HTTPResponse) -> Bool {
        if let statuses, !statuses.contains(response.status) { return false }
        guard let comparison else { return statuses != nil || response.status.isSuccess }
        guard statuses != nil || response.status.isSuccess, let bytes = response.body.bytesInMemory,
            let node = try? JSONNode.parse(bytes)
        else { return false }
        return comparison.holds(for: node, in: bytes)
    }
}

extension PollCondition.Comparison {
    fileprivate func holds(for document: JSONNode, in bytes: [UInt8]) -> Bool {
        var node = document
        for name in path {
            if case .array(let items) = node.value {
                guard let index = ASCIINumber.whole(name), items.indices.contains(index) else {
                    return operation == "!="
                }
                node = items[index]
            } else {
                guard let member = node[name] else { return operation == "!=" }
                node = member
            }
        }
        switch (node.value, value.value) {
        case (.number(let left), .number(let right)):
            let order =
                left == right
                ? Self.order(ofEqual: bytes[node.range], text[value.range], isNegative: left < 0)
                : left < right ? -1 : 1
            return Self.compare(order, 0, operation)
        case (.string(let left), .string(let right)): return Self.compare(left, right, operation)
        case (.bool(let left), .bool(let right)):
            return operation == "==" ? left == right : operation == "!=" && left != right
        case (.null, .null): return operation == "=="
        default: return operation == "!="
        }
    }

    /// Compares two numbers that are the same as doubles: beyond 2⁵³ whole numbers, such as identifiers, are not told
    /// apart by those.
    private static func order(ofEqual left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>, isNegative: Bool) -> Int {
        let minus = UInt8(ascii: "-")
        let (left, right) = (left.drop { $0 == minus }, right.drop { $0 == minus })
        guard (left + right).allSatisfy({ (0x30...0x39).contains($0) }), !left.elementsEqual(right) else { return 0 }
        // JSON has no leading zeros.
        let isLess = left.count == right.count ? left.lexicographicallyPrecedes(right) : left.count < right.count
        return isLess == isNegative ? 1 : -1
    }

    private static func compare<Value: Comparable>(_ left: Value, _ right: Value, _ operation: String) -> Bool {
        switch operation {
        case "==": left == right
        case "!=": left != right
        case "<": left < right
        case "<=": left <= right
        case ">": left > right
        default: left >= right
        }
    }
}
