#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where a request goes: scheme, host and port (RFC 9110 §4.3.1).
///
/// Budgets, pacing and the rules on what crosses a redirect are kept by origin.
public struct Origin: Hashable, Sendable, Codable, CustomStringConvertible {
    /// `http` or `https`, in lower case.
    public let scheme: String
    /// The host in lower case.
    public let host: String
    /// The port; the scheme's own where the URL names none.
    public let port: Int

    /// The origin of a URL, or nil where the URL is not an absolute HTTP one.
    public init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = url.host(), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host.lowercased()
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    /// The origin as it stands in a URL.
    public var description: String {
        let shown = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "\(scheme)://\(shown):\(port)"
    }
}
