/// Hosts as they are sent: in ASCII and in lower case, so that every spelling of a host is the same one.
enum HostName {
    /// Whether the text is a plain name in lower case, or an address of IPv4, and so stays as it is.
    static func isPlain(_ host: String) -> Bool {
        var host = host
        return host.withUTF8 { bytes in
            bytes.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        }
    }

    /// A name in ASCII and in lower case, its other labels encoded (RFC 5891); nil where that cannot be.
    ///
    /// The tables of Unicode's compatibility forms are not at hand: names that they would change are refused, so that
    /// no two libraries take one for two different hosts. Their owner can spell them `xn--…`.
    static func ascii(_ name: String) -> String? {
        if isPlain(name) { return name }
        guard name.utf8.allSatisfy(isAllowed) else { return nil }
        guard name.utf8.contains(where: { $0 >= 0x80 }) else { return name.lowercased() }
        var labels: [String] = []
        for label in name.unicodeScalars.split(omittingEmptySubsequences: false, whereSeparator: isDot) {
            guard let encoded = encoded(String(label).lowercased()) else { return nil }
            labels.append(encoded)
        }
        return labels.joined(separator: ".")
    }

    /// What the URL Standard forbids in a host is not allowed, also where it was percent-encoded.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != 0x7F && !"#/:<>?@[\\]^|%".utf8.contains(byte)
    }

    /// The full stops that end a label (UTS 46 §2.3).
    private static func isDot(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "." || scalar == "\u{3002}" || scalar == "\u{FF0E}" || scalar == "\u{FF61}"
    }

    private static func encoded(_ label: String) -> String? {
        guard label.utf8.contains(where: { $0 >= 0x80 }) else { return label }
        guard label.unicodeScalars.allSatisfy(isStable) else { return nil }
        let encoded = "xn--" + Punycode.encode(Array(label.unicodeScalars.prefix(64)))
        // The longest label that DNS takes.
        return encoded.utf8.count <= 63 ? encoded : nil
    }

    /// Whether a character of a label in lower case stays what it is in every normal form.
    private static func isStable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .spaceSeparator, .lineSeparator,
            .paragraphSeparator:
            return false
        default: break
        }
        switch scalar.value {
        // They are letters of their own since IDNA 2008.
        case 0xDF, 0x3C2: return true
        // They would be one with the letter before them.
        case 0x300...0x36F, 0x3099...0x309A: return false
        default: return !scalar.properties.changesWhenNFKCCaseFolded
        }
    }
}
