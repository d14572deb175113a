// SPDX-License-Identifier: Apache-2.0
/// Strings of JSON that is written by hand, with its members in the order given.
package enum JSONText {
    /// A JSON string with its quotes (RFC 8259 §7).
    package static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a JSON string with its quotes (RFC 8259 §7).
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": bytes += "\\\"".utf8
            case "\\": bytes += "\\\\".utf8
            case "\n": bytes += "\\n".utf8
            case "\r": bytes += "\\r".utf8
            case "\t": bytes += "\\t".utf8
            // Most of these are valid in JSON, but a terminal would interpret them.
            case _ where PrintableText.isControl(scalar):
                for unit in UTF16.encode(scalar).map(Array.init) ?? [] {
                    let digits = String(unit, radix: 16)
                    bytes += "\\u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)".utf8
                }
            default: bytes += UTF8.encode(scalar).map(Array.init) ?? []
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
