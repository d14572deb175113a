// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Parses URLs from text, and throws an error with the reason for text that is not a URL.
package enum URLText {
    /// In place of a URL that cannot be made; a request for it fails when it is sent.
    static var invalid: URL { URL(string: "about:invalid") ?? URL(filePath: "/") }

    /// Parses a URL.
    ///
    /// - Parameter isComplete: whether the text must be a whole URL. If false, a relative one is returned as it is,
    ///   for an adapter that completes it; one that is not completed is refused when it is sent.
    package static func parse(_ text: String, isComplete: Bool = true) throws(HTTPError) -> URL {
        func refuse(_ code: HTTPError.Code, _ reason: String) -> HTTPError {
            let quoted = withoutSecrets(text)
            let shown = quoted.count > 200 ? quoted.prefix(200) + "…" : quoted[...]
            return HTTPError(code, request: HTTPRequest(invalid), message: "\"\(shown)\" \(reason)", bytesSent: 0)
        }
        // Fast path: nearly every URL is plain and valid, and reading its components would cost more than parsing it.
        if isPlain(text), let url = URL(string: text) { return url }
        guard !text.isEmpty else { throw refuse(.badURL, "is empty; a URL such as https://host/path is wanted") }
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw refuse(.badURL, "contains white space or a control character; percent-encode it")
        }
        guard let url = URL(string: escaped(text)) else { throw refuse(.badURL, "is not a URL") }
        // Compares bytes: substring search costs more than all the other checks.
        guard let scheme = url.scheme?.lowercased(), text.utf8.dropFirst(scheme.utf8.count).starts(with: "://".utf8)
        else {
            guard isComplete else { return url }
            throw refuse(.badURL, "has no scheme; begin it with http:// or https://")
        }
        guard scheme == "http" || scheme == "https" else {
            throw refuse(.unsupportedURL, "has the scheme \(scheme); only http and https are supported")
        }
        guard let host = url.host(), !host.isEmpty else { throw refuse(.badURL, "names no host") }
        if let port = url.port, !(1...65_535).contains(port) {
            throw refuse(.badURL, "has the port \(port); ports go from 1 to 65535")
        }
        guard Origin(url) != nil else {
            throw refuse(.badURL, "names a host that is invalid in DNS; use its ASCII form (xn--…)")
        }
        return url
    }

    /// Whether a text is a scheme: a letter, then letters, digits, `+`, `-` and `.` (RFC 3986 §3.1).
    static func isScheme(_ text: String) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
        return text.utf8.first.map(isLetter) == true
            && text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
    }

    /// Whether the text begins with `http` or `https`, a host name and an optional port, and needs no escaping.
    ///
    /// False means that the text needs a full parse.
    package static func isPlain(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            guard let end = endOfPlainOrigin(bytes) else { return false }
            return !needsEscapes(bytes[end...])
        } ?? false
    }

    /// Whether a text is a plain URL that has the same text as every equal one (RFC 3986 §6.2).
    ///
    /// It is in lower case up to its path, has one, and has neither port 80 or 443 nor escapes, a query, a fragment or
    /// segments of dots.
    package static func isNormal(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            guard let end = endOfPlainOrigin(bytes), end < bytes.count else { return false }
            func ends(in port: StaticString) -> Bool {
                port.withUTF8Buffer { bytes[..<end].suffix($0.count).elementsEqual($0) }
            }
            guard !ends(in: ":80"), !ends(in: ":443") else { return false }
            var index = 7
            while index < end {
                if (0x41...0x5A).contains(bytes[index]) { return false }
                index += 1
            }
            let allowed = allowed
            while index < bytes.count {
                let byte = bytes[index]
                guard allowed.contains(byte), byte != UInt8(ascii: "?"), byte != UInt8(ascii: "@"),
                    byte != dot || bytes[index - 1] != slash
                else { return false }
                index += 1
            }
            return true
        } ?? false
    }

    /// The offset where a plain scheme, host and port end, if the end of the text or a path follows; nil otherwise.
    static func endOfPlainOrigin(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        // Byte by byte, which is several times as fast as the standard library's prefix operations.
        guard text.count > 8, text[0] == UInt8(ascii: "h"), text[1] == UInt8(ascii: "t"),
            text[2] == UInt8(ascii: "t"), text[3] == UInt8(ascii: "p")
        else { return nil }
        let colon = text[4] == UInt8(ascii: "s") ? 5 : 4
        guard text[colon] == UInt8(ascii: ":"), text[colon + 1] == UInt8(ascii: "/"),
            text[colon + 2] == UInt8(ascii: "/")
        else { return nil }
        let start = colon + 3
        var end = start
        while end < text.count, isHostByte(text[end]) { end += 1 }
        guard end > start else { return nil }
        if end < text.count, text[end] == UInt8(ascii: ":") {
            var port = 0
            end += 1
            while end < text.count, port <= 65_535, (0x30...0x39).contains(text[end]) {
                port = port * 10 + Int(text[end] & 0x0F)
                end += 1
            }
            guard (1...65_535).contains(port) else { return nil }
        }
        // An "@" would make the text before it user information.
        return end == text.count || text[end] == UInt8(ascii: "/") ? end : nil
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// The URL as text, without user and password, and without the values of parameters that are secrets.
    package static func redacted(
        _ url: URL,
        hiding isHidden: (Substring) -> Bool = { SecretNames.contains(parameter: $0) }
    ) -> String {
        var text = url.absoluteString
        if text.utf8.contains(UInt8(ascii: "@")), url.user() != nil || url.password() != nil {
            guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
                return "(a URL with credentials)"
            }
            parts.user = nil
            parts.password = nil
            guard let plain = parts.string else { return "(a URL with credentials)" }
            text = plain
        }
        // Of the text, not of components: what stands there is shown as it is.
        let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        guard let mark = text.utf8[..<end].firstIndex(of: UInt8(ascii: "?")) else { return text }
        return text[...mark] + query(text[text.index(after: mark)..<end], hiding: isHidden) + text[end...]
    }
}

extension URLText {
    /// The URL as a transport must send it: with the normalized host of its ``Origin``.
    ///
    /// A transport that normalized hosts by other rules could connect to a host other than the one whose certificate,
    /// credentials and budget were looked up.
    package static func sent(_ url: URL) -> String {
        let text = url.absoluteString
        guard let origin = Origin(url), !origin.host.utf8.contains(UInt8(ascii: ":")),
            let host = hostRange(in: text), text[host].lowercased() != origin.host
        else { return text }
        return "\(text[..<host.lowerBound])\(origin.host)\(text[host.upperBound...])"
    }

    /// The range of the host in an absolute URL whose host is not a bracketed address.
    private static func hostRange(in text: String) -> Range<String.Index>? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text.utf8[colon...].starts(with: "://".utf8)
        else { return nil }
        let authority = text.utf8[colon...].dropFirst(3).prefix { !"/?#".utf8.contains($0) }
        let start = authority.lastIndex(of: UInt8(ascii: "@")).map(authority.index(after:)) ?? authority.startIndex
        let end = authority[start...].firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        return start..<end
    }
}

extension URLText {
    /// A text with a URL or the target of a request, which end it, without the values of parameters that are secrets.
    package static func withoutSecretParameters(_ text: String) -> String {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return text }
        let start = text.utf8.index(after: mark)
        let end = text.utf8[start...].firstIndex { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: " ") } ?? text.endIndex
        return text[..<start] + query(text[start..<end]) + text[end...]
    }

    /// Removes a possible user and password, and secret parameters, from text that is not a valid URL.
    ///
    /// Removes everything between the scheme and the last `@`, because malformed text has no definite boundaries.
    static func withoutSecrets(_ malformed: String) -> String {
        let text = withoutSecretParameters(malformed)
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return text }
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let start = text.utf8[scheme.endIndex...].starts(with: "://".utf8) ? scheme + "://" : ""
        return start + text[text.utf8.index(after: at)...]
    }

    /// Removes users and passwords from the URLs within a text, such as a field's value.
    package static func withoutUserinfo(in text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            result.append(byte)
            guard byte == UInt8(ascii: "/"), rest.first == UInt8(ascii: "/") else { continue }
            result.append(rest.removeFirst())
            let authority = rest.prefix { $0 > 0x20 && !"/?#\"<>".utf8.contains($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) { rest = rest[(at + 1)...] }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension URLText {
    /// The URL without the segments `.` and `..` of its path (RFC 3986 §5.2.4); other text is returned unchanged.
    ///
    /// Foundation removes them from a relative reference that it resolves, but not from an absolute URL.
    package static func withoutDotSegments(_ text: String) -> String {
        let bytes = text.utf8
        guard hasDotAfterSlash(text), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8)
        else { return text }
        let authority = bytes[colon...].dropFirst(3)
        guard let start = authority.firstIndex(where: { "/?#".utf8.contains($0) }), bytes[start] == slash else {
            return text
        }
        let end = bytes[start...].firstIndex { "?#".utf8.contains($0) } ?? bytes.endIndex
        var kept: [Substring] = []
        let segments = text[start..<end].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in zip(segments.indices, segments) {
            guard segment == "." || segment == ".." else {
                kept.append(segment)
                continue
            }
            if segment == ".." { _ = kept.popLast() }
            // The folder that the last segment denotes ends in a slash.
            if index == segments.endIndex - 1 { kept.append("") }
        }
        return "\(text[..<start])/\(kept.joined(separator: "/"))\(text[end...])"
    }

    /// Whether any segment begins with a dot, as few do.
    ///
    /// It looks at memory: to go through the text as a collection takes forty times as long.
    private static func hasDotAfterSlash(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var index = 1
            while index < bytes.count {
                if bytes[index] == dot, bytes[index - 1] == slash { return true }
                index += 1
            }
            return false
        }
    }

    private static var slash: UInt8 { UInt8(ascii: "/") }
    private static var dot: UInt8 { UInt8(ascii: ".") }
}

extension URLText {
    /// Percent-encodes the characters of a URL or URL reference that are not allowed after the host.
    ///
    /// Existing escapes are kept, as curl and browsers do. Foundation also escapes the `%` of a path or query once
    /// anything else in it needs escaping: `/a%20b|c` would become `/a%2520b%7Cc`, which is another resource.
    static func escaped(_ text: String) -> String {
        var text = text
        return text.withUTF8 { bytes in
            let start = endOfAuthority(bytes)
            guard needsEscapes(bytes[start...]) else { return String(decoding: bytes, as: UTF8.self) }
            var result = Array(bytes[..<start])
            result.reserveCapacity(bytes.count + 32)
            var isFragment = false
            for (index, byte) in bytes.enumerated().dropFirst(start) {
                if allowed.contains(byte) || byte == percent && isEscape(bytes[index...]) {
                    result.append(byte)
                } else if byte == UInt8(ascii: "#"), !isFragment {
                    isFragment = true
                    result.append(byte)
                } else {
                    result += [percent, hexDigit(byte >> 4), hexDigit(byte & 0xF)]
                }
            }
            return String(decoding: result, as: UTF8.self)
        }
    }

    /// Whether a byte of a path, query and fragment needs escaping.
    private static func needsEscapes(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let allowed = allowed
        var isFragment = false
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if !allowed.contains(byte) {
                if byte == percent {
                    guard isEscape(bytes[index...]) else { return true }
                } else {
                    guard byte == UInt8(ascii: "#"), !isFragment else { return true }
                    isFragment = true
                }
            }
            index += 1
        }
        return false
    }

    /// The offset where scheme and host end; 0 if the text has neither.
    private static func endOfAuthority(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let ends: [UInt8] = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        guard let slash = bytes.firstIndex(where: ends.contains), bytes[slash...].starts(with: "//".utf8),
            slash == 0 || bytes[slash - 1] == UInt8(ascii: ":")
        else { return 0 }
        return bytes[(slash + 2)...].firstIndex(where: ends.contains) ?? bytes.count
    }

    /// Whether the bytes begin with `%` and two hexadecimal digits (RFC 3986 §2.1).
    private static func isEscape(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        bytes.count > 2
            && bytes.prefix(3).dropFirst().allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
            }
    }

    /// Bytes of ASCII: one bit for each value, since the lookup runs for each byte of every request's URL.
    private struct Bytes {
        private let low: UInt64
        private let high: UInt64

        init(_ text: String) {
            func mask(over range: Range<UInt8>) -> UInt64 {
                text.utf8.filter(range.contains).reduce(0) { $0 | 1 &<< UInt64($1 & 63) }
            }
            (low, high) = (mask(over: 0..<64), mask(over: 64..<128))
        }

        func contains(_ byte: UInt8) -> Bool {
            byte < 0x80 && ((byte < 64 ? low &>> UInt64(byte) : high &>> UInt64(byte & 63)) & 1 == 1)
        }
    }

    /// The bytes that are allowed in every component after the host (RFC 3986 §3.3 and §3.4), without `%` and `#`.
    private static let allowed = Bytes(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?"
    )

    private static var percent: UInt8 { UInt8(ascii: "%") }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}

extension URLText {
    /// Percent-encodes query items, including plus signs, which many servers decode as spaces.
    static func encoded(_ items: [URLQueryItem]) -> String {
        var parts = URLComponents()
        parts.queryItems = items
        return (parts.percentEncodedQuery ?? "").replacing("+", with: "%2B")
    }

    /// Makes a relative URL from a path and query items.
    static func relative(path: String, query: [URLQueryItem]) throws(HTTPError) -> URL {
        var parts = URLComponents()
        parts.path = path
        if !query.isEmpty { parts.percentEncodedQuery = encoded(query) }
        // Two leading slashes would start a host, and a colon in the first segment a scheme.
        let firstSegment = path.prefix { $0 != "/" }
        guard !path.hasPrefix("//"), !firstSegment.contains(":"), let url = parts.url else {
            throw HTTPError(
                .badURL,
                request: HTTPRequest(invalid),
                message: "\"\(path.prefix(200))\" is not a path; one such as people/1 is wanted",
                bytesSent: 0
            )
        }
        return url
    }

    /// Completes a relative URL with the scheme, host, port and prefix of a server; returns an absolute URL unchanged.
    ///
    /// The URL is assembled as text and parsed, because the setters of `URLComponents` trap on invalid values.
    ///
    /// - Throws: `InvalidArgument` if the environment does not make a valid URL.
    static func complete(_ url: URL, with environment: ServerEnvironment) throws(InvalidArgument) -> URL {
        let text = url.absoluteString
        guard url.scheme == nil else { return url }
        let server = try Self.text(of: environment)
        let completedText: String
        if text.hasPrefix("//") {
            completedText = "\(environment.scheme):\(text)"
        } else if text.hasPrefix("/") {
            completedText = server + text
        } else {
            var prefix = URLComponents()
            prefix.path = environment.pathPrefix
            var path = prefix.percentEncodedPath
            if !path.hasPrefix("/") { path = "/" + path }
            let continuesPath = !text.isEmpty && !text.hasPrefix("?") && !text.hasPrefix("#")
            if continuesPath, !path.hasSuffix("/") { path += "/" }
            completedText = server + path + text
        }
        guard let completed = URL(string: completedText) else {
            throw InvalidArgument("ServerEnvironment", is: completedText, expected: "a part of a URL")
        }
        return completed
    }

    /// A host as a URL has it: an IPv6 address in brackets.
    static func bracketed(_ host: String) -> String {
        // A name has no colon; an IPv6 address has two or more, and hexadecimal digits.
        let isAddress =
            host.utf8.count { $0 == UInt8(ascii: ":") } >= 2
            && host.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        return isAddress ? "[\(host)]" : host
    }

    /// Scheme, host and port of a server as text.
    ///
    /// Throws if one of them contains anything else.
    private static func text(of environment: ServerEnvironment) throws(InvalidArgument) -> String {
        let port = environment.port.map { ":\($0)" } ?? ""
        let text = "\(environment.scheme)://\(bracketed(environment.host))\(port)"
        guard let url = try? parse(text + "/"), url.path(percentEncoded: true) == "/", url.port == environment.port,
            url.user() == nil, url.password() == nil, url.query() == nil, url.fragment() == nil
        else {
            throw InvalidArgument(
                "ServerEnvironment",
                is: withoutSecrets(text),
                expected: "the scheme http or https, a host and a port from 1 to 65535"
            )
        }
        return text
    }
}
