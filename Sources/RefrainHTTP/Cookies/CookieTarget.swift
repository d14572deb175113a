// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The parts of a URL that decide which cookies it receives and may set.
struct CookieTarget {
    /// The host in lower case, without the brackets of an IPv6 address.
    let host: String
    let path: String
    /// Whether what is sent cannot be read on the way: TLS, or this machine itself.
    let isSecure: Bool
    /// Whether the host is an address, which has nothing below it.
    let isAddress: Bool

    /// The target of a URL; nil for a URL without a host.
    init?(_ url: URL) {
        // As it is sent: what servers call `xn--bcher-kva.example` is `bücher.example` in the URL.
        guard let host = Origin(url)?.host ?? url.host(), !host.isEmpty else { return nil }
        self.host = host.lowercased()
        let path = url.path()
        self.path = path.hasPrefix("/") ? path : "/"
        isAddress = Self.isAddress(self.host)
        let isLocal = ["localhost", "127.0.0.1", "::1"].contains(self.host)
        isSecure = isLocal || ["https", "wss"].contains(url.scheme?.lowercased() ?? "")
    }

    /// Whether a cookie is sent here, apart from its expiry.
    func receives(_ cookie: CookieJar.Cookie) -> Bool {
        (isSecure || !cookie.isSecure) && (cookie.includesSubdomains ? isWithin(cookie.domain) : host == cookie.domain)
            && Self.isPath(path, below: cookie.path)
    }

    /// Whether the host is the domain or below it (RFC 6265 §5.1.3); an address has nothing below it.
    func isWithin(_ domain: String) -> Bool {
        host == domain || (!isAddress && !domain.isEmpty && host.hasSuffix("." + domain))
    }

    /// Whether a path is the other one or below it (RFC 6265 §5.1.4).
    static func isPath(_ path: String, below outer: String) -> Bool {
        guard path != outer else { return true }
        guard path.hasPrefix(outer) else { return false }
        return outer.hasSuffix("/") || path.utf8.dropFirst(outer.utf8.count).first == UInt8(ascii: "/")
    }

    /// The path of a cookie that names none: that of the folder (RFC 6265 §5.1.4).
    var defaultPath: String {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func isAddress(_ host: String) -> Bool {
        if host.contains(":") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}
