#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request: a value that says what is asked, and how the chain shall treat it.
///
/// ```swift
/// var request = try HTTPRequest("https://api.example.com/people", method: .post, body: .json(person))
/// request.headers["Accept"] = "application/json"
/// request.timeout = .seconds(5)
/// ```
public struct HTTPRequest: Sendable {
    /// What is to be done.
    public var method: HTTPMethod
    /// Where it is to be done; may be relative where a stage completes it (``ApplyEnvironment``).
    public var url: URL
    /// The header fields.
    public var headers: HTTPHeaders
    /// What is sent along.
    public var body: HTTPBody
    /// How the stages of the chain shall treat the request.
    var options = OptionValues()

    /// Makes a request for a URL.
    public init(_ url: URL, method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }

    /// Makes a request for a URL that is given as text.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/badURL`` or ``HTTPError/Code/unsupportedURL``, which quotes the
    ///   text and says what is wrong with it.
    public init(
        _ text: String,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .empty
    ) throws(HTTPError) {
        self.init(try URLText.parse(text), method: method, headers: headers, body: body)
    }

    /// The origin that the request goes to, or nil where the URL is relative.
    public var origin: Origin? { Origin(url) }
}

extension HTTPRequest: CustomStringConvertible {
    /// Method and URL; credentials within the URL are left out.
    public var description: String { "\(method) \(URLText.redacted(url))" }
}
