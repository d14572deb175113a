// SPDX-License-Identifier: Apache-2.0
/// JSON that is read, with the line and the bytes that each value was written in (RFC 8259).
///
/// Strict: one value, no duplicate member names, no control character in a string, no surrogate without its pair.
struct JSONNode: Sendable {
    /// A value.
    enum Value: Sendable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([JSONNode])
        case object([(name: String, value: JSONNode)])
    }

    let value: Value
    /// The range of the value in the text.
    let range: Range<Int>
    /// The line that the value begins in, from 1.
    let line: Int

    /// The member with a name; nil if this is not an object or has none.
    subscript(name: String) -> JSONNode? {
        guard case .object(let members) = value else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The text of a string; nil for other values.
    var text: String? {
        if case .string(let text) = value { return text }
        return nil
    }

    /// The kind of the value, for messages.
    var kind: String {
        switch value {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// A syntax error with its position.
    struct Failure: Error, Hashable, CustomStringConvertible {
        let what: String
        /// The line, from 1.
        let line: Int
        /// The byte of the line, from 1.
        let column: Int
        var description: String { "\(what) at byte \(column)" }
    }

    /// Reads a text that is one value.
    static func parse(_ bytes: [UInt8]) throws(Failure) -> JSONNode {
        var parser = JSONParser(bytes: bytes)
        return try parser.document()
    }

    /// Reads a file.
    ///
    /// - Throws: ``UsageError`` with the name of the file and the line.
    static func parse(_ bytes: [UInt8], source: String) throws(UsageError) -> JSONNode {
        do throws(Failure) {
            return try parse(bytes)
        } catch {
            throw UsageError("\(source), line \(error.line): \(error)")
        }
    }
}

private struct JSONParser {
    let bytes: [UInt8]
    private var index = 0
    private var line = 1
    /// The start of the current line.
    private var lineStart = 0
    private static let deepest = 128

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONNode.Failure) -> JSONNode {
        let node = try value(depth: 0)
        skipSpace()
        guard index == bytes.count else { throw failure("there is more after the value") }
        return node
    }

    private func failure(_ what: String) -> JSONNode.Failure {
        JSONNode.Failure(what: what, line: line, column: index - lineStart + 1)
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = next {
            switch byte {
            case 0x20, 0x09, 0x0D: index += 1
            case 0x0A:
                index += 1
                (line, lineStart) = (line + 1, index)
            default: return
            }
        }
    }

    private mutating func take(_ byte: Character) -> Bool {
        guard let wanted = byte.asciiValue, next == wanted else { return false }
        index += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONNode.Failure) -> JSONNode {
        guard depth < Self.deepest else { throw failure("the nesting is too deep") }
        skipSpace()
        let (start, line) = (index, line)
        let value: JSONNode.Value
        switch next {
        case UInt8(ascii: "{"): value = .object(try object(depth))
        case UInt8(ascii: "["): value = .array(try array(depth))
        case UInt8(ascii: "\""): value = .string(try string())
        case UInt8(ascii: "t"): value = try word("true", .bool(true))
        case UInt8(ascii: "f"): value = try word("false", .bool(false))
        case UInt8(ascii: "n"): value = try word("null", .null)
        case nil: throw failure("the text ends where a value is expected")
        default: value = .number(try number())
        }
        return JSONNode(value: value, range: start..<index, line: line)
    }

    private mutating func word(_ word: String, _ value: JSONNode.Value) throws(JSONNode.Failure) -> JSONNode.Value {
        guard bytes[index...].starts(with: word.utf8) else { throw failure("there is no such word in JSON") }
        index += word.utf8.count
        return value
    }

    private mutating func object(_ depth: Int) throws(JSONNode.Failure) -> [(name: String, value: JSONNode)] {
        index += 1
        var members: [(name: String, value: JSONNode)] = []
        skipSpace()
        if take("}") { return members }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw failure("a member's name is missing") }
            let name = try string()
            guard !members.contains(where: { $0.name == name }) else {
                throw failure("the member \(Sanitized.text(name)) is repeated")
            }
            skipSpace()
            guard take(":") else { throw failure("a colon is missing") }
            members.append((name, try value(depth: depth + 1)))
            skipSpace()
            if take("}") { return members }
            guard take(",") else { throw failure("a comma or a closing brace is missing") }
        }
    }

    private mutating func array(_ depth: Int) throws(JSONNode.Failure) -> [JSONNode] {
        index += 1
        var items: [JSONNode] = []
        skipSpace()
        if take("]") { return items }
        while true {
            items.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return items }
            guard take(",") else { throw failure("a comma or a closing bracket is missing") }
        }
    }

    private mutating func number() throws(JSONNode.Failure) -> Double {
        let start = index
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        guard let number = Double(String(decoding: bytes[start..<index], as: UTF8.self)), number.isFinite else {
            throw failure("a number is out of range")
        }
        return number
    }

    private mutating func digits() throws(JSONNode.Failure) {
        let start = index
        while let byte = next, (48...57).contains(byte) { index += 1 }
        guard index > start else { throw failure("there is no value") }
    }

    private mutating func string() throws(JSONNode.Failure) -> String {
        index += 1
        var text: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw failure("a string is not UTF-8")
                }
                return string
            case UInt8(ascii: "\\"): text += try escaped()
            case ..<0x20: throw failure("a string contains a control character")
            default: text.append(byte)
            }
        }
        throw failure("a string has no end")
    }

    private mutating func escaped() throws(JSONNode.Failure) -> [UInt8] {
        guard let byte = next else { throw failure("a string has no end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            var code = try unit()
            if (0xD800..<0xDC00).contains(code) {
                guard take("\\"), take("u") else { throw failure("a surrogate has no pair") }
                let low = try unit()
                guard (0xDC00..<0xE000).contains(low) else { throw failure("a surrogate has no pair") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw failure("a surrogate has no pair") }
            return Array(String(scalar).utf8)
        default: throw failure("there is no such escape in JSON")
        }
    }

    private mutating func unit() throws(JSONNode.Failure) -> UInt32 {
        guard index + 4 <= bytes.count,
            let unit = UInt32(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16),
            bytes[index] != UInt8(ascii: "+"), bytes[index] != UInt8(ascii: "-")
        else { throw failure("an escape lacks its four hexadecimal digits") }
        index += 4
        return unit
    }
}
