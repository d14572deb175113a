// SPDX-License-Identifier: Apache-2.0
/// A list of digests of files, as `sha256sum`, `sha512sum` and their `--tag` write it.
struct ChecksumFile: Sendable {
    private var digests: [String: ContentDigest] = [:]
    private let path: String

    /// Reads a list.
    ///
    /// - Throws: ``UsageError``, with the number of the line that cannot be read.
    init(path: String) throws(UsageError) {
        try self.init(String(decoding: try Input.contents(path, "--checksum-file"), as: UTF8.self), path: path)
    }

    init(_ text: String, path: String) throws(UsageError) {
        self.path = Sanitized.plain(path)
        // Some editors put a byte order mark in front of UTF-8.
        let text = text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...]
        // By bytes: a name may contain the line breaks that only Unicode knows.
        for (index, bytes) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let line = Substring(bytes.last == 0x0D ? bytes.dropLast() : bytes)
            guard !line.isEmpty, line.first != "#" else { continue }
            guard let (name, hex) = Self.entry(line),
                let digest = ContentDigest(hex: hex, source: "\(self.path):\(index + 1)")
            else {
                throw UsageError(
                    "--checksum-file: \(self.path):\(index + 1) is not a line of sha256sum or sha512sum: DIGEST  NAME"
                )
            }
            if let earlier = digests[name], earlier.algorithm == digest.algorithm, earlier.bytes != digest.bytes {
                let name = Sanitized.text(name)
                throw UsageError("--checksum-file: \(self.path):\(index + 1) contradicts an earlier line for \(name)")
            }
            digests[name] = digest
        }
    }

    private static func entry(_ line: Substring) -> (name: String, hex: Substring)? {
        // A backslash in front says that the name has escapes.
        let isEscaped = line.hasPrefix("\\")
        guard let (text, hex) = fields(isEscaped ? line.dropFirst() : line),
            let name = isEscaped ? unescaped(text) : String(text)
        else { return nil }
        let path = name.hasPrefix("./") ? String(name.dropFirst(2)) : name
        return path.isEmpty ? nil : (path, hex)
    }

    private static func fields(_ line: Substring) -> (name: Substring, hex: Substring)? {
        // SHA256 (NAME) = DIGEST
        for tag in ["SHA256 (", "SHA512 ("] where line.hasPrefix(tag) {
            // The digest has no bracket, so the last one ends the name.
            guard let close = line.lastIndex(of: ")"), line[close...].hasPrefix(") = ") else { return nil }
            return (line[..<close].dropFirst(tag.count), line[close...].dropFirst(4))
        }
        // DIGEST, a space, a space or an asterisk, NAME
        guard let space = line.utf8.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        var name = line.utf8[space...].dropFirst()
        if name.first == UInt8(ascii: " ") || name.first == UInt8(ascii: "*") { name.removeFirst() }
        return (Substring(name), line[..<space])
    }

    /// A name as it is, of which a backslash and line breaks are escaped; nil where there is another escape.
    private static func unescaped(_ text: Substring) -> String? {
        var (name, rest) = ("", text.unicodeScalars)
        while let scalar = rest.popFirst() {
            guard scalar == "\\" else {
                name.unicodeScalars.append(scalar)
                continue
            }
            switch rest.popFirst() {
            case "\\": name.append("\\")
            case "n": name.append("\n")
            case "r": name.append("\r")
            default: return nil
            }
        }
        return name
    }

    /// The digest of the first of some names that is in the list.
    func digest(for names: [String]) throws(UsageError) -> ContentDigest {
        for name in names { if let digest = digests[name] { return digest } }
        throw UsageError("--checksum-file: \(path) has no line for \(Sanitized.text(names.first ?? ""))")
    }
}
