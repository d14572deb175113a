// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// JSON that is written, with its members in the order given (RFC 8259).
enum JSON: Sendable {
    case null
    case number(Double)
    case integer(Int64)
    case string(String)
    case array([JSON])
    case object([(String, JSON)])

    /// The value, or null where there is none.
    static func optional<Value>(_ value: Value?, _ make: (Value) -> JSON) -> JSON { value.map(make) ?? .null }

    /// The value on one line.
    var text: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value and a line feed, in UTF-8.
    var line: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .integer(let number): bytes += "\(number)".utf8
        // JSON has neither infinity nor NaN.
        case .number(let number): bytes += (number.isFinite ? "\(number)" : "null").utf8
        case .string(let text): JSONText.append(text, to: &bytes)
        case .array(let items):
            bytes.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                item.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONText.append(member.0, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.1.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

extension JSON {
    /// A number rounded to a number of places.
    static func rounded(_ number: Double, places: Int) -> JSON {
        let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
        let scaled = (number * scale).rounded()
        return .number(scaled.magnitude < 1e15 ? scaled / scale : number)
    }
}
