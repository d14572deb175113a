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
        // A carriage return and a line feed are one newline.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
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
        // SHA256 (NAME) = DIGEST
        for tag in ["SHA256 (", "SHA512 ("] where line.hasPrefix(tag) {
            // The digest has no bracket, so the last one ends the name.
            guard let close = line.lastIndex(of: ")"), line[close...].hasPrefix(") = ") else { return nil }
            return (String(line[..<close].dropFirst(tag.count)), line[close...].dropFirst(4))
        }
        // DIGEST, a space, a space or an asterisk, NAME
        guard let space = line.firstIndex(of: " ") else { return nil }
        var name = line[space...].dropFirst()
        if name.first == " " || name.first == "*" { name.removeFirst() }
        if name.hasPrefix("./") { name.removeFirst(2) }
        return name.isEmpty ? nil : (String(name), line[..<space])
    }

    /// The digest of the first of some names that is in the list.
    func digest(for names: [String]) throws(UsageError) -> ContentDigest {
        for name in names { if let digest = digests[name] { return digest } }
        throw UsageError("--checksum-file: \(path) has no line for \(Sanitized.text(names.first ?? ""))")
    }
}
