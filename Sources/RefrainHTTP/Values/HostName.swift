// SPDX-License-Identifier: Apache-2.0
/// Normalizes hosts to lower-case ASCII, the form in which they are sent and compared.
enum HostName {
    /// Whether the text is a lower-case ASCII name or an IPv4 address, which needs no conversion.
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

    /// Returns a name in lower-case ASCII with its other labels encoded (RFC 5891), or nil if it cannot be encoded.
    ///
    /// The tables of Unicode's compatibility forms are not available. A name that they would change is refused, so that
    /// two libraries cannot resolve it to different hosts; its `xn--…` form is accepted.
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

    /// Whether the URL Standard allows the byte in a host, percent-encoded or not.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != 0x7F && !"#/:<>?@[\\]^|%".utf8.contains(byte)
    }

    /// The full stops that end a label (UTS 46 §2.3).
    private static func isDot(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "." || scalar == "\u{3002}" || scalar == "\u{FF0E}" || scalar == "\u{FF61}"
    }

    private static func encoded(_ label: String) -> String? {
        guard label.utf8.contains(where: { $0 >= 0x80 }) else { return label }
        // A label that claims to be encoded has no other characters (RFC 5891 §5.4).
        guard !label.hasPrefix("xn--"), label.unicodeScalars.allSatisfy(isStable) else { return nil }
        let encoded = "xn--" + Punycode.encode(Array(label.unicodeScalars.prefix(64)))
        // The maximum length of a DNS label.
        return encoded.utf8.count <= 63 ? encoded : nil
    }

    /// Whether a lower-case character is unchanged by every normalization form.
    private static func isStable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .spaceSeparator, .lineSeparator,
            .paragraphSeparator:
            return false
        default: break
        }
        switch scalar.value {
        // Letters of their own since IDNA 2008.
        case 0xDF, 0x3C2: return true
        // Combining marks, which could compose with the preceding letter.
        case 0x300...0x36F, 0x3099...0x309A: return false
        // What was no text when it was decoded.
        case 0xFFFD: return false
        default: return !scalar.properties.changesWhenNFKCCaseFolded
        }
    }
}

/// Encodes Unicode labels as ASCII (RFC 3492).
private enum Punycode {
    private static let base = 36
    private static let smallestThreshold = 1
    private static let largestThreshold = 26

    /// Encodes the characters of a label.
    ///
    /// Quadratic in the length of a label, which is at most a few dozen characters.
    static func encode(_ label: [Unicode.Scalar]) -> String {
        var output = label.filter(\.isASCII).map { UInt8(truncatingIfNeeded: $0.value) }
        let plain = output.count
        if plain > 0 { output.append(UInt8(ascii: "-")) }
        var handled = plain
        var code = 0x80
        var delta = 0
        var bias = 72
        while let next = label.lazy.map({ Int($0.value) }).filter({ $0 >= code }).min() {
            delta += (next - code) * (handled + 1)
            code = next
            for scalar in label {
                if scalar.value < code { delta += 1 }
                guard scalar.value == code else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapted(delta, count: handled + 1, isFirst: handled == plain)
                delta = 0
                handled += 1
            }
            delta += 1
            code += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a number as a variable-length integer (RFC 3492 §3.3).
    private static func append(_ number: Int, bias: Int, to output: inout [UInt8]) {
        var rest = number
        var position = base
        while true {
            let threshold = min(max(position - bias, smallestThreshold), largestThreshold)
            guard rest >= threshold else { break }
            let range = base - threshold
            output.append(digit(threshold + (rest - threshold) % range))
            rest = (rest - threshold) / range
            position += base
        }
        output.append(digit(rest))
    }

    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var steps = 0
        while delta > (base - smallestThreshold) * largestThreshold / 2 {
            delta /= base - smallestThreshold
            steps += base
        }
        return steps + base * delta / (delta + 38)
    }

    private static func digit(_ value: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 26 ? Int(UInt8(ascii: "a")) + value : Int(UInt8(ascii: "0")) + value - 26)
    }
}
