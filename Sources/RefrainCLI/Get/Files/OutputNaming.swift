// SPDX-License-Identifier: Apache-2.0
internal import RefrainTesting

/// Names the file of a URL by the URL alone; the rest of the list never changes a name.
///
/// The default is a tree by host and path. A component that is valid in every file system is kept; any other one ends
/// in `~` and ten digits of its digest. So that no file has the name of a folder that another URL needs, files have a
/// point, an `@` or a `~` in their name (`/users/1` is written as `users/1.data`), and a folder with a point ends in an
/// underscore. A query follows an `@`.
enum OutputNaming {
    /// How many bytes of UTF-8 a name has at most; most file systems allow 255.
    static let maximumLength = 180
    /// How many bytes a path in the tree has at most; longer ones are cut to the host and a digest.
    static let maximumPathLength = 900

    private static let slash = UInt8(ascii: "/")
    private static let point = UInt8(ascii: ".")
    private static let hyphen = UInt8(ascii: "-")

    /// The path in a tree: host, folders, file.
    static func tree(_ url: String) -> String {
        let parts = Parts(url)
        var components = parts.path.utf8.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
            .map(Substring.init)[...]
        let last = components.popLast() ?? ""
        let file = fileName(last, query: parts.query)
        let path = ([parts.host] + components.map(folderName) + [file]).joined(separator: "/")
        guard path.utf8.count > maximumPathLength else { return path }
        return parts.host + "/" + digested("long", of: parts.text)
    }

    /// The name of a file in the tree, by the last component of a path without a query.
    static func file(_ last: Substring) -> String { fileName(last, query: nil) }

    /// A name in one folder: the last component, and the digest of the URL.
    static func flat(_ url: String) -> String {
        let last = lastComponent(of: url)
        return digested(last.isEmpty ? "index" : last, of: Parts(url).text)
    }

    /// The name that `--remote-name` writes to: the last component of the path, unchanged; nil if it is
    /// empty.
    static func remote(_ url: String) -> String? {
        let last = Parts(url).path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        return last.isEmpty ? nil : sanitized(last)
    }

    /// The text after the last slash of the path, percent-decoded if the result is UTF-8.
    static func lastComponent(of url: String) -> String {
        decoded(Parts(url).path.split(separator: "/").last.map(String.init) ?? "")
    }

    /// A shortened name that ends in a digest.
    static func shortened(_ name: String) -> String { digested(name, of: name) }

    /// Names that are the same in some file system have the same folding.
    static func folded(_ name: String) -> String {
        // For ASCII the detour by upper case changes nothing.
        name.isASCII ? name.lowercased() : name.uppercased().lowercased()
    }

    private static func folderName(_ raw: Substring) -> String {
        let text = decoded(String(raw))
        guard isFaithful(text) else { return digested(text, of: String(raw), keepingEnding: false) + "_" }
        return text.contains(byte: point) ? text + "_" : text
    }

    private static func fileName(_ raw: Substring, query: Substring?) -> String {
        guard let query else {
            if raw.isEmpty { return "index~.html" }
            let text = decoded(String(raw))
            let hasPoint = text.contains(byte: point)
            guard isFaithful(text), !text.hasSuffix(".data"), !text.hasSuffix("_") || !hasPoint else {
                return digested(text, of: String(raw))
            }
            return hasPoint ? text : text + ".data"
        }
        let text = raw.isEmpty ? "index" : decoded(String(raw))
        let name = "\(text)@\(query)"
        let isPlain = raw.isEmpty || isFaithful(text)
        guard isPlain, name.utf8.count <= maximumLength, !query.isEmpty, query.utf8.allSatisfy(isPlainInQuery) else {
            return digested(text, of: "\(raw)?\(query)")
        }
        return raw.isEmpty ? "index~@\(query)" : name
    }

    private static func isPlainInQuery(_ byte: UInt8) -> Bool {
        ASCIILetter.isLetterOrDigit(byte) || "-=&,+;_".utf8.contains(byte)
    }

    /// Whether a component can be the name of a file as it is, on every file system.
    private static func isFaithful(_ text: String) -> Bool {
        isOrdinary(text)
            || !text.isEmpty && text.utf8.count <= maximumLength && !text.contains("@") && !text.contains("~")
                && sanitized(text) == text
    }

    /// Whether a name is made of letters, digits, points, hyphens and underscores, as most are.
    ///
    /// Every file system takes such a name, unless it begins or ends with a point or begins with a hyphen.
    static func isOrdinary(_ text: some StringProtocol) -> Bool {
        // Of its memory: to go through a part of a text as a collection takes six times as long.
        text.utf8.withContiguousStorageIfAvailable(isOrdinary) ?? isOrdinary(Array(text.utf8))
    }

    private static func isOrdinary(_ name: some RandomAccessCollection<UInt8>) -> Bool {
        guard let first = name.first, let last = name.last, first != point, first != hyphen, last != point,
            name.count <= maximumLength
        else { return false }
        return name.allSatisfy { byte in
            ASCIILetter.isLetterOrDigit(byte) || byte == point || byte == hyphen || byte == UInt8(ascii: "_")
        }
    }

    /// A readable name that ends in the digest of its source.
    private static func digested(_ text: String, of source: String, keepingEnding: Bool = true) -> String {
        let clean = sanitized(text).replacing("~", with: "_").replacing("@", with: "_")
        var (stem, ending) = split(clean)
        let isShort =
            (2...12).contains(ending.utf8.count) && ending.utf8.dropFirst().allSatisfy(ASCIILetter.isLetterOrDigit)
        if !keepingEnding || !isShort { (stem, ending) = (clean, "") }
        let digest = ContentDigest.sha256(of: Array(source.utf8)).prefix(10)
        return cut(stem, to: maximumLength - 40) + "~" + digest + ending
    }

    /// A name that every file system takes.
    static func sanitized(_ text: String) -> String {
        if isOrdinary(text) { return text }
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

    private static func decoded(_ text: String) -> String {
        guard text.contains(byte: UInt8(ascii: "%")) else { return text }
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

/// The parts of a URL that its file is named by.
private struct Parts {
    /// The host in lower case, with the port where it is not that of https: `h`, `h+80`, `h+8443`.
    let host: String
    /// The path from its first slash on; empty where there is none.
    let path: Substring
    let query: Substring?
    /// Host, path and query, which identify the file.
    var text: String { host + path + (query.map { "?\($0)" } ?? "") }

    init(_ url: String) {
        var rest = url[...]
        var isTLS = false
        if let start = SanitizedURL.authorityStart(of: url) {
            isTLS = rest[..<start].lowercased() == "https://"
            rest = rest[start...]
        }
        rest = Substring(rest.utf8.prefix { $0 != UInt8(ascii: "#") })
        let end = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        var authority = rest[..<end]
        if let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            authority = authority[authority.utf8.index(after: at)...]
        }
        let target = rest[end...]
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        path = target[..<(mark ?? target.endIndex)]
        query = mark.map { target[target.utf8.index(after: $0)...] }
        var name = authority.lowercased()
        var port = isTLS ? "" : "+80"
        if let colon = name.utf8.lastIndex(of: UInt8(ascii: ":")), !name[colon...].utf8.contains(UInt8(ascii: "]")) {
            let given = name[name.utf8.index(after: colon)...]
            if !given.isEmpty { port = isTLS && given == "443" ? "" : "+\(given)" }
            name = String(name[..<colon])
        }
        if name.utf8.contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }) {
            name = name.replacing("[", with: "").replacing("]", with: "")
        }
        host = OutputNaming.sanitized(name) + port
    }
}
