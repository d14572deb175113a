#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

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
