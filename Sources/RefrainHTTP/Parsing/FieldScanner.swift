// SPDX-License-Identifier: Apache-2.0
/// Scans a field value byte by byte.
///
/// It advances only, so parsers built on it take linear time. No operation traps; at the end of the value each one
/// fails.
struct FieldScanner {
    private let bytes: [UInt8]
    private let end: Int
    private(set) var position: Int

    /// Scans a value without its surrounding spaces and tabs (RFC 9110 §5.5).
    init(_ value: String) { self.init(value) { $0.isOptionalWhitespace } }

    /// Scans a value without its surrounding spaces; keeps tabs (RFC 9651 §4.2).
    init(spacesAround value: String) { self.init(value) { $0 == .space } }

    private init(_ value: String, without isAround: (UInt8) -> Bool) {
        let bytes = Array(value.utf8)
        var start = 0
        var end = bytes.count
        while start < end, isAround(bytes[start]) { start += 1 }
        while end > start, isAround(bytes[end - 1]) { end -= 1 }
        self.bytes = bytes
        self.end = end
        position = start
    }

    var isAtEnd: Bool { position >= end }

    /// The next byte, which is not consumed.
    var current: UInt8? { position < end ? bytes[position] : nil }

    /// Takes the next byte.
    mutating func next() -> UInt8? {
        guard position < end else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Takes the next byte if it equals `byte`.
    mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    /// Takes a text; takes nothing and returns false if another follows.
    mutating func take(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard count <= end - position else { return false }
        for offset in 0..<count where bytes[position + offset] != text.utf8Start[offset] { return false }
        position += count
        return true
    }

    /// Takes the longest run of bytes that satisfy the condition.
    mutating func take(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while position < end, condition(bytes[position]) { position += 1 }
        return bytes[start..<position]
    }

    /// Takes a number of exactly `count` digits.
    mutating func takeNumber(digits count: Int) -> Int? {
        guard count <= end - position else { return nil }
        var number = 0
        for byte in bytes[position..<position + count] {
            guard byte.isDigit else { return nil }
            number = number * 10 + Int(byte - .zero)
        }
        position += count
        return number
    }

    mutating func skipWhitespace() { _ = take { $0.isOptionalWhitespace } }

    /// Takes a token (RFC 9110 §5.6.2).
    mutating func takeToken() -> String? {
        let token = take { $0.isTokenCharacter }
        return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
    }

    /// Takes a quoted string (RFC 9110 §5.6.4) and returns its unescaped content.
    mutating func takeQuotedString() -> String? {
        guard take(.quote) else { return nil }
        var content: [UInt8] = []
        while var byte = next() {
            if byte == .quote { return String(decoding: content, as: UTF8.self) }
            if byte == .backslash {
                guard let escaped = next() else { return nil }
                byte = escaped
            }
            guard byte == .tab || byte >= .space && byte != .delete else { return nil }
            content.append(byte)
        }
        return nil
    }

    /// Moves back to an earlier position.
    mutating func rewind(to position: Int) { self.position = position }
}

/// Combines the lines of one field.
enum FieldValues {
    /// The value of a field that may occur once: its lines, if they are equal; otherwise `nil`.
    static func single(_ lines: [String]) -> String? {
        guard let first = lines.first else { return nil }
        // Compared by bytes, because strings are also equal if they differ only in Unicode normalization.
        return lines.allSatisfy { $0.utf8.elementsEqual(first.utf8) } ? first : nil
    }

    /// The elements of a comma-separated field, in order, without surrounding spaces and tabs.
    ///
    /// Ignores quoting, so it is for fields of tokens and numbers only.
    static func elements(_ lines: [String]) -> [Substring.UTF8View] {
        lines.flatMap { line in
            line.utf8.split(separator: .comma, omittingEmptySubsequences: false).map(trimmed)
        }
    }

    /// The bytes without leading and trailing spaces and tabs.
    static func trimmed(_ bytes: Substring.UTF8View) -> Substring.UTF8View {
        var rest = bytes
        while let first = rest.first, first.isOptionalWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isOptionalWhitespace { rest.removeLast() }
        return rest
    }
}

/// Character classes of header fields, by byte value and independent of the locale.
extension UInt8 {
    static let tab = UInt8(ascii: "\t")
    static let space = UInt8(ascii: " ")
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let comma = UInt8(ascii: ",")
    static let semicolon = UInt8(ascii: ";")
    static let equals = UInt8(ascii: "=")
    static let zero = UInt8(ascii: "0")
    static let delete: UInt8 = 0x7F

    /// A space or a tab (OWS, RFC 9110 §5.6.3).
    var isOptionalWhitespace: Bool { self == .space || self == .tab }

    var isDigit: Bool { self >= .zero && self <= UInt8(ascii: "9") }

    var isLowercaseLetter: Bool { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") }

    var isLetter: Bool { (self | 0x20).isLowercaseLetter }

    /// A character of a token (RFC 9110 §5.6.2).
    var isTokenCharacter: Bool {
        if isLetter || isDigit { return true }
        return switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

/// Parses numbers in header fields, which consist of ASCII digits only.
enum FieldNumber {
    /// Returns the number, saturating at `Int64.max`; `nil` if there are no digits or other characters.
    static func saturating(_ digits: some Sequence<UInt8>) -> Int64? {
        var number: Int64 = 0
        var isEmpty = true
        for byte in digits {
            guard byte.isDigit else { return nil }
            isEmpty = false
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(byte - .zero))
            number = overflow || carry ? .max : sum
        }
        return isEmpty ? nil : number
    }

    /// Returns the number; `nil` if it exceeds `Int64.max`, or if there are no digits or other characters.
    ///
    /// For positions and lengths, where a saturated number would be wrong.
    static func exact(_ digits: some Sequence<UInt8>) -> Int64? {
        var number: Int64 = 0
        var isEmpty = true
        for byte in digits {
            guard byte.isDigit else { return nil }
            isEmpty = false
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(byte - .zero))
            guard !overflow, !carry else { return nil }
            number = sum
        }
        return isEmpty ? nil : number
    }
}

/// A non-negative decimal number, such as `60` or `1.5`.
///
/// Signs, exponents and `NaN` are not allowed.
struct FieldDecimal: Hashable {
    /// The integer part; saturates at `Int64.max`.
    let whole: Int64
    /// The fraction times 10¹⁸; further digits are truncated.
    let attos: Int64

    init?(_ bytes: Substring.UTF8View) {
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let whole = FieldNumber.saturating(first) else { return nil }
        var attos: Int64 = 0
        if parts.count == 2 {
            let places = parts[1]
            guard !places.isEmpty, places.allSatisfy(\.isDigit) else { return nil }
            var weight: Int64 = 100_000_000_000_000_000
            for digit in places.prefix(18) {
                attos += Int64(digit - .zero) * weight
                weight /= 10
            }
        }
        (self.whole, self.attos) = (whole, attos)
    }

    /// Makes the number of a structured field; `nil` if the item is negative or not a number.
    init?(_ item: StructuredField.BareItem) {
        switch item {
        case .integer(let number) where number >= 0: (whole, attos) = (number, 0)
        case .decimal(let decimal) where decimal.thousandths >= 0:
            (whole, attos) = (decimal.thousandths / 1000, decimal.thousandths % 1000 * 1_000_000_000_000_000)
        default: return nil
        }
    }

    /// Whether the number is greater than an integer.
    func isGreater(than other: Int64) -> Bool { whole > other || whole == other && attos > 0 }

    var asSeconds: Duration { .seconds(whole) + Duration(secondsComponent: 0, attosecondsComponent: attos) }

    var asMilliseconds: Duration {
        .milliseconds(whole) + Duration(secondsComponent: 0, attosecondsComponent: attos / 1000)
    }
}
