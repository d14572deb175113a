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
