// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// URLs from outside as they are shown: without user and password, which may be secrets.
enum SanitizedURL {
    /// A URL that can be fetched, without its user and password.
    static func text(_ url: String) -> String {
        guard url.contains(byte: UInt8(ascii: "@")), let authority = authority(of: url),
            let at = url[authority].utf8.lastIndex(of: UInt8(ascii: "@"))
        else { return url }
        return String(url[..<authority.lowerBound]) + String(url[url.utf8.index(after: at)...])
    }

    /// A URL for messages, also without the values of parameters that are secrets, such as `token`.
    static func shown(_ url: String) -> String { URLText.withoutSecretParameters(text(url)) }

    /// The user of a URL; nil: it names none.
    static func user(of url: String) -> String? {
        guard url.contains(byte: UInt8(ascii: "@")), let authority = authority(of: url),
            let at = url[authority].utf8.lastIndex(of: UInt8(ascii: "@"))
        else { return nil }
        let user = url[authority.lowerBound..<at].prefix { $0 != ":" }
        return user.isEmpty ? nil : String(user)
    }

    /// A URL in the form in which equal ones have the same text: scheme and host in lower case, without the port of the
    /// scheme, and with a path (RFC 3986 §6.2.3).
    static func canonical(_ url: String) -> String {
        guard let authority = authority(of: url), !isCanonical(url, authority) else { return url }
        let scheme = url[..<authority.lowerBound].lowercased()
        var host = url[authority].lowercased()
        let port = scheme == "http://" ? ":80" : ":443"
        if host.hasSuffix(port) { host.removeLast(port.utf8.count) } else if host.hasSuffix(":") { host.removeLast() }
        let rest = url[authority.upperBound...]
        return "\(scheme)\(host)\(rest.utf8.first == UInt8(ascii: "/") ? "" : "/")\(rest)"
    }

    /// Whether ``canonical(_:)`` changes nothing, as in most lists.
    private static func isCanonical(_ url: String, _ authority: Range<String.Index>) -> Bool {
        guard authority.upperBound < url.endIndex, url.utf8[authority.upperBound] == UInt8(ascii: "/") else {
            return false
        }
        let host = url.utf8[authority]
        if let colon = host.lastIndex(of: UInt8(ascii: ":")) {
            let port = host[host.index(after: colon)...]
            guard !port.isEmpty, !port.elementsEqual("80".utf8), !port.elementsEqual("443".utf8) else { return false }
        }
        return url[..<authority.upperBound].utf8.allSatisfy { $0 < 0x80 && !(0x41...0x5A).contains($0) }
    }

    /// A URL with a slash as its path if it has none, as it is sent.
    static func withPath(_ url: String) -> String {
        guard let authority = authority(of: url),
            authority.upperBound == url.endIndex || url[authority.upperBound] != "/"
        else { return url }
        return "\(url[..<authority.upperBound])/\(url[authority.upperBound...])"
    }

    /// A URL in which letters, digits, `-`, `.`, `_` and `~` are not percent-encoded, which changes nothing (RFC 3986
    /// §6.2.2.2).
    static func withoutNeedlessEscapes(_ url: String) -> String {
        let bytes = Array(url.utf8)
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let byte = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16),
                ASCIILetter.isLetterOrDigit(byte) || "-._~".utf8.contains(byte)
            {
                plain.append(byte)
                index += 3
            } else {
                plain.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// A URL without its fragment, which is not sent.
    static func withoutFragment(_ url: String) -> String {
        guard url.contains(byte: UInt8(ascii: "#")) else { return url }
        return url.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(url[..<$0]) } ?? url
    }

    /// Text that is not a valid URL, without anything that may be a password, and without secret parameters.
    static func refused(_ text: String) -> String { URLText.withoutSecretParameters(withoutPassword(text)) }

    /// Text in which a URL may stand, without anything that may be a password.
    ///
    /// The end of a password is unknown in invalid text, because it may contain slashes and spaces.
    static func withoutPassword(_ text: String) -> String {
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return text }
        let scheme = text.firstRange(of: "://").map { text[..<$0.upperBound] } ?? ""
        guard scheme.endIndex <= at else { return text }
        return scheme + "…" + text[at...]
    }

    /// The text between the scheme, if there is one, and the path.
    private static func authority(of url: String) -> Range<String.Index>? {
        // A Location may leave the scheme out.
        let start = url.hasPrefix("//") ? url.utf8.index(url.startIndex, offsetBy: 2) : authorityStart(of: url)
        guard let start else { return nil }
        let end = url.utf8[start...].firstIndex { byte in
            byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
        return start..<(end ?? url.endIndex)
    }

    /// The index after the first `://`.
    static func authorityStart(of url: String) -> String.Index? {
        let bytes = url.utf8
        var index = bytes.startIndex
        while let colon = bytes[index...].firstIndex(of: UInt8(ascii: ":")) {
            index = bytes.index(after: colon)
            let rest = bytes[index...].prefix(2)
            if rest.elementsEqual("//".utf8) { return rest.endIndex }
        }
        return nil
    }
}

extension String {
    /// Whether the text contains a byte.
    ///
    /// Reads the memory of the text: iterating the collection takes fifty times as long, and most texts are contiguous.
    func contains(byte: UInt8) -> Bool {
        utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, Int32(byte), bytes.count) != nil } ?? false
        } ?? utf8.contains(byte)
    }

    /// The index after the last byte of this value; nil: there is none.
    ///
    /// Reads the memory, too.
    func index(afterLast byte: UInt8) -> Index? {
        let offset = utf8.withContiguousStorageIfAvailable { $0.lastIndex(of: byte) } ?? Array(utf8).lastIndex(of: byte)
        return offset.map { utf8.index(startIndex, offsetBy: $0 + 1) }
    }

    /// Whether the text is ASCII; reads its memory, too.
    var isASCII: Bool {
        utf8.withContiguousStorageIfAvailable { bytes in
            var all: UInt8 = 0
            for byte in bytes { all |= byte }
            return all < 0x80
        } ?? utf8.allSatisfy { $0 < 0x80 }
    }
}

/// Header fields whose values are not shown or stored, because they are credentials.
enum SecretFields {
    /// The secret fields of a request, which are not sent to another origin.
    static func names(in headers: HTTPHeaders) -> Set<String> {
        var found: Set<String> = []
        for field in headers where contains(field.name) { found.insert(field.name) }
        return found
    }

    /// Whether the value of a field is a secret.
    static func contains(_ name: String) -> Bool { HTTPHeaders.isSecret(name) }

    /// The value of a field as a report has it.
    static func shown(_ field: HTTPHeaders.Field) -> String {
        if HTTPHeaders.isSame(field.name, "Set-Cookie") {
            // Which cookie was set is not a secret.
            return field.value.contains("=") ? field.value.prefix { $0 != "=" } + "=…" : "…"
        }
        if contains(field.name) { return "…" }
        let isURL = ["Location", "Content-Location", "Referer"].contains { HTTPHeaders.isSame(field.name, $0) }
        return isURL ? SanitizedURL.shown(field.value) : field.value
    }
}
