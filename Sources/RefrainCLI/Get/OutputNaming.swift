/// Gives each URL a file name of its own.
///
/// A name comes from the last component of the path. It stays inside of the folder, is not hidden, has no characters
/// that some file system refuses, and differs from all other names also where upper and lower case are the same.
struct OutputNaming {
    private var taken: Set<String> = []
    private var counters: [String: Int] = [:]

    /// How many bytes of UTF-8 a name has at most; most file systems allow 255.
    static let maximumLength = 180

    /// The next name for a URL.
    mutating func name(for url: String) -> String {
        let wanted = Self.sanitized(Self.lastComponent(of: url))
        if taken.insert(Self.folded(wanted)).inserted { return wanted }
        let (stem, ending) = Self.split(wanted)
        // The counter saves a search from the start for each of many equal names.
        var number = counters[Self.folded(wanted), default: 1]
        var name: String
        repeat {
            number += 1
            name = "\(stem)-\(number)\(ending)"
        } while !taken.insert(Self.folded(name)).inserted
        counters[Self.folded(wanted)] = number
        return name
    }

    /// What comes after the last slash of the path, percent-decoded where that gives text.
    static func lastComponent(of url: String) -> String {
        var rest = url[...]
        if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
        rest = rest.prefix { $0 != "?" && $0 != "#" }
        guard let root = rest.firstIndex(of: "/") else { return "" }
        let last = rest[root...].split(separator: "/").last.map(String.init) ?? ""
        return decoded(last)
    }

    /// A name that every file system takes.
    static func sanitized(_ text: String) -> String {
        var name = ""
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
            let isDirection =
                (0x200E...0x200F).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value)
                || (0x2066...0x2069).contains(scalar.value)
            let isRefused = isControl || isDirection || "/\\:*?\"<>|".unicodeScalars.contains(scalar)
            name.unicodeScalars.append(isRefused ? "_" : scalar)
        }
        name = String(name.drop { $0 == "." || $0 == " " || $0 == "-" || $0 == "~" })
        while let last = name.last, last == "." || last == " " { name.removeLast() }
        guard !name.isEmpty else { return "index" }
        guard name.utf8.count > maximumLength else { return name }
        let (stem, ending) = split(name)
        let keptEnding = ending.utf8.count <= 20 ? ending : ""
        return cut(stem, to: maximumLength - keptEnding.utf8.count) + keptEnding
    }

    private static func cut(_ text: String, to length: Int) -> String {
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars {
            count += scalar.utf8.count
            guard count <= length else { break }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    private static func split(_ name: String) -> (stem: String, ending: String) {
        guard let point = name.lastIndex(of: "."), point > name.startIndex else { return (name, "") }
        return (String(name[..<point]), String(name[point...]))
    }

    /// Names that some file system takes for one have the same folding.
    private static func folded(_ name: String) -> String { name.uppercased().lowercased() }

    private static func decoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let source = Array(text.utf8)
        var bytes: [UInt8] = []
        var index = 0
        while index < source.count {
            if source[index] == UInt8(ascii: "%"), index + 2 < source.count,
                let high = hex(source[index + 1]), let low = hex(source[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(source[index])
                index += 1
            }
        }
        return String(validating: bytes, as: UTF8.self) ?? text
    }

    private static func hex(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
