// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The scheme, host and port of a request (RFC 9110 §4.3.1).
///
/// Budgets, rate limits and the redirect rules are keyed by origin. All spellings of a host are equal: letters of
/// either case, percent escapes, and both forms of an internationalized name.
public struct Origin: Hashable, Sendable, Codable, CustomStringConvertible {
    /// `http` or `https`, in lower case.
    public let scheme: String
    /// The host in lower-case ASCII, as it is sent: `xn--bcher-kva.example` for `bücher.example`.
    public let host: String
    /// The port; defaults to the scheme's.
    public let port: Int

    /// Makes the origin of a URL, or nil if the URL is not an absolute HTTP URL.
    public init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = url.host(), !host.isEmpty, let sent = HostName.isPlain(host) ? host : Self.sent(host, in: url)
        else { return nil }
        self.scheme = scheme
        self.host = sent
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    /// The normalized host of a URL whose host is not plain, or nil if it cannot be normalized.
    private static func sent(_ host: String, in url: URL) -> String? {
        // Only an IPv6 address contains a colon; its zone keeps its percent sign.
        if host.utf8.contains(UInt8(ascii: ":")) { return host.lowercased() }
        guard let name = url.host(percentEncoded: false), !name.isEmpty else { return nil }
        return HostName.ascii(name)
    }

    /// The origin in URL form.
    public var description: String {
        let shown = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "\(scheme)://\(shown):\(port)"
    }
}
