extension MediaType {
    /// Whether a range such as `image/*` or `*/*` includes this type; ignores parameters.
    public func matches(_ range: MediaType) -> Bool {
        guard range.type != "*" else { return range.subtype == "*" || range.subtype == subtype }
        return range.type == type && (range.subtype == "*" || range.subtype == subtype)
    }

    /// Whether the lines of an `Accept` field allow this type (RFC 9110 §12.5.1).
    ///
    /// The most specific range that includes the type decides; a weight of 0 excludes it. Without a field, or with a
    /// malformed one, every type is allowed.
    public func isAcceptable(accept fieldValues: [String]) -> Bool {
        guard let ranges = Self.ranges(fieldValues), !ranges.isEmpty else { return true }
        var best: (exactness: Int, isAllowed: Bool)?
        for range in ranges where covered(by: range) {
            let isAllowed = !range.isRefused
            if let known = best {
                guard range.exactness >= known.exactness else { continue }
                best = (range.exactness, isAllowed || range.exactness == known.exactness && known.isAllowed)
            } else {
                best = (range.exactness, isAllowed)
            }
        }
        return best?.isAllowed ?? false
    }

    /// The ranges of an `Accept` field; `nil` if one is malformed.
    static func ranges(_ lines: [String]) -> [MediaType]? {
        var ranges: [MediaType] = []
        for line in lines {
            var scanner = FieldScanner(line)
            while !scanner.isAtEnd {
                scanner.skipWhitespace()
                if scanner.take(.comma) { continue }
                guard let range = MediaType(scanning: &scanner) else { return nil }
                ranges.append(range)
                guard scanner.isAtEnd || scanner.take(.comma) else { return nil }
            }
        }
        return ranges
    }

    /// Whether a range of an `Accept` field includes this type and its parameters, except the weight.
    private func covered(by range: MediaType) -> Bool {
        matches(range)
            && range.parameters.allSatisfy { parameter in
                parameter.name == "q" || self[parameter: parameter.name]?.lowercased() == parameter.value.lowercased()
            }
    }

    private var exactness: Int {
        if type == "*" { return 0 }
        if subtype == "*" { return 1 }
        return 2 + parameters.count { $0.name != "q" }
    }

    /// A weight of zero, in any of its spellings: `0`, `0.`, `0.000`.
    private var isRefused: Bool {
        guard let weight = self[parameter: "q"] else { return false }
        return weight.utf8.first == .zero
            && weight.utf8.dropFirst().allSatisfy { $0 == .zero || $0 == UInt8(ascii: ".") }
    }
}
