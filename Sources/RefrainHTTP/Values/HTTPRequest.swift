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
    // Boxed, so that what a request is handed through costs a pointer: a request in mid-chain stands in the frames of
    // a dozen asynchronous functions.
    private var contents: Contents

    /// Makes a request for a URL.
    public init(_ url: URL, method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        contents = Contents(url, method, headers, body, OptionValues())
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
        get { contents.method }
        _modify {
            makeUnique()
            yield &contents.method
        }
    }

    /// Where it is to be done; may be relative where a stage completes it (``ApplyEnvironment``).
    public var url: URL {
        get { contents.url }
        _modify {
            makeUnique()
            yield &contents.url
        }
    }

    /// The header fields.
    public var headers: HTTPHeaders {
        get { contents.headers }
        _modify {
            makeUnique()
            yield &contents.headers
        }
    }

    /// What is sent along.
    public var body: HTTPBody {
        get { contents.body }
        _modify {
            makeUnique()
            yield &contents.body
        }
    }

    /// How the stages of the chain shall treat the request.
    var options: OptionValues {
        get { contents.options }
        _modify {
            makeUnique()
            yield &contents.options
        }
    }

    /// Whoever the request is made for, where that is a request of a session.
    package var owner: (any CallOwner)? {
        get { contents.owner }
        set {
            makeUnique()
            contents.owner = newValue
        }
    }

    /// The origin that the request goes to, or nil where the URL is relative.
    public var origin: Origin? { Origin(contents.url) }

    private mutating func makeUnique() {
        guard !isKnownUniquelyReferenced(&contents) else { return }
        let owner = contents.owner
        contents = Contents(contents.url, contents.method, contents.headers, contents.body, contents.options)
        contents.owner = owner
    }
}

private final class Contents: @unchecked Sendable {
    // @unchecked Sendable: changed only while uniquely referenced by one value, and every part is Sendable.
    var method: HTTPMethod
    var url: URL
    var headers: HTTPHeaders
    var body: HTTPBody
    var options: OptionValues
    var owner: (any CallOwner)?

    init(_ url: URL, _ method: HTTPMethod, _ headers: HTTPHeaders, _ body: HTTPBody, _ options: OptionValues) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.options = options
    }
}

extension HTTPRequest: CustomStringConvertible {
    /// Method and URL; credentials within the URL are left out.
    public var description: String { "\(method) \(URLText.redacted(url))" }
}
