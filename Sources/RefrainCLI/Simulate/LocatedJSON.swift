/// JSON that was read, each value with the line that it begins in, for messages that name it (RFC 8259).
struct LocatedJSON: Sendable {
    enum Value: Sendable {
        case null
        case boolean(Bool)
        case number(Double)
        case string(String)
        case array([LocatedJSON])
        case object([(name: String, value: LocatedJSON)])
    }

    let line: Int
    let value: Value

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - text: the document.
    ///   - source: the name of its file, for messages.
    static func parse(_ text: [UInt8], source: String) throws(UsageError) -> LocatedJSON {
        var parser = Parser(bytes: text, source: source)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.isAtEnd else { throw parser.failure("has more text after its end") }
        return value
    }

    /// What the value is, in words.
    var kind: String {
        switch value {
        case .null: "null"
        case .boolean: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }

    private struct Parser {
        let bytes: [UInt8]
        let source: String
        var position = 0
        var line = 1

        static let deepest = 64

        var isAtEnd: Bool { position >= bytes.count }
        var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        func failure(_ problem: String) -> UsageError { UsageError("\(source), line \(line): \(problem)") }

        mutating func skipSpace() {
            while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) {
                if byte == 0x0A { line += 1 }
                position += 1
            }
        }

        mutating func value(depth: Int) throws(UsageError) -> LocatedJSON {
            guard depth < Self.deepest else { throw failure("has too many levels") }
            skipSpace()
            let start = line
            switch next {
            case UInt8(ascii: "{"):
                return LocatedJSON(line: start, value: .object(try members(depth: depth)))
            case UInt8(ascii: "["):
                return LocatedJSON(line: start, value: .array(try items(depth: depth)))
            case UInt8(ascii: "\""):
                return LocatedJSON(line: start, value: .string(try string()))
            case nil:
                throw failure("ends where a value is expected")
            default:
                return LocatedJSON(line: start, value: try word())
            }
        }

        private mutating func members(depth: Int) throws(UsageError) -> [(name: String, value: LocatedJSON)] {
            position += 1
            var members: [(name: String, value: LocatedJSON)] = []
            skipSpace()
            if take("}") { return members }
            while true {
                skipSpace()
                guard next == UInt8(ascii: "\"") else { throw failure("lacks the name of a member, in quotes") }
                let name = try string()
                skipSpace()
                guard take(":") else { throw failure("lacks a colon after \(Sanitized.text(name))") }
                guard !members.contains(where: { $0.name == name }) else {
                    throw failure("has \(Sanitized.text(name)) twice")
                }
                members.append((name, try value(depth: depth + 1)))
                skipSpace()
                if take("}") { return members }
                guard take(",") else { throw failure("lacks a comma or } after \(Sanitized.text(name))") }
            }
        }

        private mutating func items(depth: Int) throws(UsageError) -> [LocatedJSON] {
            position += 1
            var items: [LocatedJSON] = []
            skipSpace()
            if take("]") { return items }
            while true {
                items.append(try value(depth: depth + 1))
                skipSpace()
                if take("]") { return items }
                guard take(",") else { throw failure("lacks a comma or ] in a list") }
            }
        }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard next == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        private mutating func word() throws(UsageError) -> Value {
            let end = bytes[position...].firstIndex { !Self.isWord($0) } ?? bytes.count
            let word = String(decoding: bytes[position..<end], as: UTF8.self)
            switch word {
            case "null": position = end; return .null
            case "true": position = end; return .boolean(true)
            case "false": position = end; return .boolean(false)
            default:
                guard let first = word.utf8.first, first == UInt8(ascii: "-") || (48...57).contains(first),
                    let number = Double(word), number.isFinite
                else { throw failure("has \(Sanitized.text(word)) where a value is expected") }
                position = end
                return .number(number)
            }
        }

        private static func isWord(_ byte: UInt8) -> Bool {
            ![0x20, 0x09, 0x0A, 0x0D].contains(byte) && !"{}[],:\"".utf8.contains(byte)
        }

        private mutating func string() throws(UsageError) -> String {
            position += 1
            var text: [UInt8] = []
            while let byte = next {
                position += 1
                switch byte {
                case UInt8(ascii: "\""):
                    guard let string = String(validating: text, as: UTF8.self) else {
                        throw failure("has a string that is not UTF-8")
                    }
                    return string
                case UInt8(ascii: "\\"): text += try escape()
                case ..<0x20: throw failure("has a string that does not end on its line")
                default: text.append(byte)
                }
            }
            throw failure("ends within a string")
        }

        private mutating func escape() throws(UsageError) -> [UInt8] {
            guard let byte = next else { throw failure("ends within a string") }
            position += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
            case UInt8(ascii: "b"): return [0x08]
            case UInt8(ascii: "f"): return [0x0C]
            case UInt8(ascii: "n"): return [0x0A]
            case UInt8(ascii: "r"): return [0x0D]
            case UInt8(ascii: "t"): return [0x09]
            case UInt8(ascii: "u"):
                let digits = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
                guard digits.utf8.count == 4, let code = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(code)
                else { throw failure("has an escape of a character that there is none of: \\u\(digits)") }
                position += 4
                return Array(String(scalar).utf8)
            default: throw failure("has an unknown escape in a string")
            }
        }
    }
}
