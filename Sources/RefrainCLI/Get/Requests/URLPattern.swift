/// The patterns by which curl makes several URLs of one: `{a,b}`, `[1-9]`, `[01-99:2]` and `[a-z]`.
enum URLPattern {
    /// The first pattern in a text; nil where there is none, as in an address of IPv6 or an empty pair of brackets.
    static func first(in text: String) -> String? {
        var rest = text[...]
        while let start = rest.firstIndex(where: { $0 == "{" || $0 == "[" || $0 == "\\" }) {
            let opening = rest[start]
            rest = rest[start...].dropFirst()
            guard opening != "\\" else {
                // A backslash takes what follows as it is.
                rest = rest.dropFirst()
                continue
            }
            guard let end = rest.firstIndex(of: opening == "{" ? "}" : "]") else { continue }
            let content = rest[..<end]
            if opening == "{" ? content.contains(",") : isRange(content) { return String(text[start...end]) }
        }
        return nil
    }

    /// Whether a text is a range of numbers or of letters, with or without a step.
    private static func isRange(_ text: Substring) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let bounds = parts.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard parts.count <= 2, bounds.count == 2, parts.dropFirst().allSatisfy({ ASCIINumber.whole($0) != nil }) else {
            return false
        }
        let areLetters = bounds.allSatisfy { $0.utf8.count == 1 && $0.first?.isLetter ?? false }
        return areLetters || bounds.allSatisfy { ASCIINumber.whole($0) != nil }
    }
}
