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
    private var contents: Boxed<Fields>

    /// Makes a request for a URL.
    public init(_ url: URL, method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        contents = Boxed(Fields(method: method, url: url, headers: headers, body: body))
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

    /// What is to be done.
    public var method: HTTPMethod {
        get { contents.fields.method }
        _modify { yield &contents.fields.method }
    }

    /// Where it is to be done; may be relative where a stage completes it (``ApplyEnvironment``).
    public var url: URL {
        get { contents.fields.url }
        _modify { yield &contents.fields.url }
    }

    /// The header fields.
    public var headers: HTTPHeaders {
        get { contents.fields.headers }
        _modify { yield &contents.fields.headers }
    }

    /// What is sent along.
    public var body: HTTPBody {
        get { contents.fields.body }
        _modify { yield &contents.fields.body }
    }

    /// How many bytes of body are in memory; nil where the body is elsewhere.
    package var bodySizeInMemory: Int? {
        // Asked here, the body is not copied for it.
        guard case .bytes(let bytes) = contents.fields.body.storage else { return nil }
        return bytes.count
    }

    /// How the stages of the chain shall treat the request.
    var options: OptionValues {
        get { contents.fields.options }
        _modify { yield &contents.fields.options }
    }

    /// Whoever the request is made for, where that is a request of a session.
    package var owner: CallOwner? {
        get { contents.fields.owner }
        _modify { yield &contents.fields.owner }
    }

    /// The origin that the request goes to, or nil where the URL is relative.
    public var origin: Origin? { Origin(contents.fields.url) }

    private struct Fields: Sendable {
        var method: HTTPMethod
        var url: URL
        var headers: HTTPHeaders
        var body: HTTPBody
        var options = OptionValues()
        var owner: CallOwner?
    }
}

extension HTTPRequest: CustomStringConvertible {
    /// Method and URL; credentials within the URL are left out.
    public var description: String { "\(method) \(URLText.redacted(url))" }
}
