#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPBody {
    /// A body with a value encoded as JSON (RFC 8259), sent as `application/json`.
    ///
    /// - Throws: the errors of the encoder.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> HTTPBody {
        .data(try encoder.encode(value), contentType: "application/json")
    }

    /// A body of Foundation's `Data`.
    public static func data(_ data: Data, contentType: String? = nil) -> HTTPBody {
        .bytes(data, contentType: contentType)
    }
}

extension HTTPBody {
    /// Names and values encoded as a web form, `application/x-www-form-urlencoded`.
    ///
    /// The encoding follows the WHATWG URL Standard §5.2: UTF-8, with a space as `+`, and all characters but letters,
    /// digits, `*`, `-`, `.` and `_` percent-encoded. Names may repeat; the order is kept.
    public static func form(_ fields: [(name: String, value: String)]) -> HTTPBody {
        .bytes(FormEncoding.encode(fields), contentType: "application/x-www-form-urlencoded")
    }
}

/// The serializer of `application/x-www-form-urlencoded` (WHATWG URL Standard §5.2).
enum FormEncoding {
    static func encode(_ fields: [(name: String, value: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            append(field.name, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            append(field.value, to: &bytes)
        }
        return bytes
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: " "):
                bytes.append(UInt8(ascii: "+"))
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
            }
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
