#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An HTTP request: method, URL, header fields, body and the options that the stages of a chain read.
///
/// ```swift
/// var request = try HTTPRequest("https://api.example.com/people", method: .post, body: .json(person))
/// request.headers["Accept"] = "application/json"
/// request.timeout = .seconds(20)
/// ```
public struct HTTPRequest: Sendable {
    private var contents: CopyOnWriteBox<Fields>

    // Beside the box: stages set it for each request, and no copy is made for it.
    /// Which responses may be handed over before their bodies are complete.
    package var deferredBodies: DeferredBodies = []

    /// Makes a request for a URL.
    public init(_ url: URL, method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        contents = CopyOnWriteBox(Fields(method: method, url: url, headers: headers, body: body))
    }

    /// Makes a request for a URL given as text.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/badURL`` or ``HTTPError/Code/unsupportedURL``, whose message
    ///   quotes the text and describes the problem.
    public init(
        _ text: String,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .empty
    ) throws(HTTPError) {
        self.init(try URLText.parse(text), method: method, headers: headers, body: body)
    }

    /// The method.
    ///
    /// Defaults to GET.
    public var method: HTTPMethod {
        get { contents.fields.method }
        _modify { yield &contents.fields.method }
    }

    /// The URL.
    ///
    /// May be relative if a stage completes it (``ApplyEnvironment``).
    public var url: URL {
        get { contents.fields.url }
        _modify { yield &contents.fields.url }
    }

    /// The header fields.
    public var headers: HTTPHeaders {
        get { contents.fields.headers }
        _modify { yield &contents.fields.headers }
    }

    /// The body.
    ///
    /// Defaults to an empty one.
    public var body: HTTPBody {
        get { contents.fields.body }
        _modify { yield &contents.fields.body }
    }

    /// The number of body bytes in memory, or nil if the body is a file or a stream.
    package var bodySizeInMemory: Int? {
        // Read in place, so that the body is not copied.
        guard case .bytes(let bytes) = contents.fields.body.storage else { return nil }
        return bytes.count
    }

    /// The media type that the body brings along.
    var bodyContentType: String? { contents.fields.body.contentType }

    /// The options that were set.
    var options: OptionValues {
        get { contents.fields.options }
        _modify { yield &contents.fields.options }
    }

    /// The origin of the URL, or nil if the URL is relative.
    public var origin: Origin? { Origin(contents.fields.url) }

    private struct Fields: Sendable {
        var method: HTTPMethod
        var url: URL
        var headers: HTTPHeaders
        var body: HTTPBody
        var options = OptionValues()
    }
}

extension HTTPRequest: CustomStringConvertible {
    /// Method and URL, without the URL's user information.
    public var description: String { "\(method) \(URLText.redacted(url))" }
}
