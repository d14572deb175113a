#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Reads URLs from text, and refuses what is none with a reason.
enum URLText {
    /// The URL that the text spells.
    static func parse(_ text: String) throws(HTTPError) -> URL {
        func refuse(_ code: HTTPError.Code, _ reason: String) -> HTTPError {
            let url = URL(string: "about:invalid") ?? URL(filePath: "/")
            let shown = text.count > 200 ? text.prefix(200) + "…" : text[...]
            return HTTPError(code, request: HTTPRequest(url), message: "\"\(shown)\" \(reason)", bytesSent: 0)
        }
        guard !text.isEmpty else { throw refuse(.badURL, "is empty; a URL such as https://host/path is wanted") }
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw refuse(.badURL, "contains white space or a control character; percent-encode it")
        }
        guard let url = URL(string: text) else { throw refuse(.badURL, "is not a URL") }
        // By its bytes: to look for a text within a text takes longer than all the rest.
        guard let scheme = url.scheme?.lowercased(), text.utf8.dropFirst(scheme.utf8.count).starts(with: "://".utf8)
        else {
            throw refuse(.badURL, "has no scheme; begin it with http:// or https://")
        }
        guard scheme == "http" || scheme == "https" else {
            throw refuse(.unsupportedURL, "has the scheme \(scheme); only http and https are supported")
        }
        guard let host = url.host(), !host.isEmpty else { throw refuse(.badURL, "names no host") }
        if let port = url.port, !(1...65_535).contains(port) {
            throw refuse(.badURL, "has the port \(port); ports go from 1 to 65535")
        }
        return url
    }

    /// The URL as text, without user and password.
    static func redacted(_ url: URL) -> String {
        guard url.user() != nil || url.password() != nil else { return url.absoluteString }
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            return "(a URL with credentials)"
        }
        parts.user = nil
        parts.password = nil
        return parts.string ?? "(a URL with credentials)"
    }
}
