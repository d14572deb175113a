// SPDX-License-Identifier: Apache-2.0
/// Certificates in PEM form (RFC 7468).
enum CertificateText {
    private static let begin = "-----BEGIN "
    private static let end = "-----END "

    /// Whether a text contains certificates, all of them complete.
    ///
    /// An invalid file would fail each handshake as an error of the server, which would be retried.
    static func isSound(_ text: String) -> Bool {
        var count = 0
        var label: Substring?
        var content = ""
        for line in text.split(whereSeparator: \.isNewline) {
            let line = trimmed(line)
            if line.hasPrefix(begin) {
                guard label == nil else { return false }
                label = line.dropFirst(begin.count)
                content = ""
            } else if line.hasPrefix(end) {
                guard label == line.dropFirst(end.count) else { return false }
                if label?.contains("CERTIFICATE-----") ?? false {
                    guard isBase64OfSequence(content) else { return false }
                    count += 1
                }
                label = nil
            } else if label != nil {
                content += line.filter { !$0.isWhitespace }
            }
        }
        return count > 0 && label == nil
    }

    private static func trimmed(_ line: Substring) -> Substring {
        var line = line.drop(while: \.isWhitespace)
        while line.last?.isWhitespace ?? false { line.removeLast() }
        return line
    }

    /// Whether a text is Base64 of data that begins with the byte 0x30, as a certificate does.
    private static func isBase64OfSequence(_ text: String) -> Bool {
        guard text.hasPrefix("M"), text.utf8.count.isMultiple(of: 4) else { return false }
        let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        guard text.utf8.count - digits.count <= 2 else { return false }
        return digits.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"): true
            default: false
            }
        }
    }
}
