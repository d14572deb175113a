#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where a request goes: scheme, host and port (RFC 9110 §4.3.1).
///
/// Budgets, pacing and the rules on what crosses a redirect are kept by origin. All spellings of a host are one:
/// letters of any case, percent escapes, and the two forms of a name that is not in ASCII.
public struct Origin: Hashable, Sendable, Codable, CustomStringConvertible {
    /// `http` or `https`, in lower case.
    public let scheme: String
    /// The host in lower case and in ASCII, as it is sent: `xn--bcher-kva.example` for `bücher.example`.
    public let host: String
    /// The port; the scheme's own where the URL names none.
    public let port: Int

    /// The origin of a URL, or nil where the URL is not an absolute HTTP one.
    public init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = url.host(), !host.isEmpty, let sent = HostName.isPlain(host) ? host : Self.sent(host, in: url)
        else { return nil }
        self.scheme = scheme
        self.host = sent
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    /// The host of a URL that is not plain, as it is sent; nil where it cannot be.
    @inline(never)
    private static func sent(_ host: String, in url: URL) -> String? {
        // Only an address has a colon, and its zone keeps its percent sign.
        if host.utf8.contains(UInt8(ascii: ":")) { return host.lowercased() }
        guard let name = url.host(percentEncoded: false), !name.isEmpty else { return nil }
        return HostName.ascii(name)
    }

    /// The origin as it stands in a URL.
    public var description: String {
        let shown = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "\(scheme)://\(shown):\(port)"
    }
}
