#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPRequest {
    /// Makes a request whose URL is put together by its parts: ``host``, ``path`` and ``queryItems``.
    ///
    /// ```swift
    /// var request = HTTPRequest()
    /// request.host = "api.example.com"
    /// request.path = "/people"
    /// request.queryItems = [URLQueryItem(name: "page", value: "2")]
    /// ```
    ///
    /// Without a host the URL is relative, for a stage that completes it (``ApplyEnvironment``).
    ///
    /// - Parameters:
    ///   - scheme: the scheme that a host is given. Defaults to `https`.
    ///   - method: the method. Defaults to GET.
    public init(scheme: String = "https", method: HTTPMethod = .get) {
        self.init(Self.relative, method: method)
        if scheme != "https" { self[option: SchemeOption.self] = scheme }
    }

    /// The host of the URL, or nil if the URL is relative.
    ///
    /// A host that is set on a relative URL makes it absolute. A host that is no valid one, or nil, makes the URL
    /// relative, which fails when it is sent.
    public var host: String? {
        get { url.host() }
        set {
            let scheme = self[option: SchemeOption.self]
            change { parts in
                parts.scheme = newValue == nil ? nil : parts.scheme ?? scheme
                parts.host = newValue
                if newValue != nil, !parts.path.hasPrefix("/") { parts.path = "/" + parts.path }
                guard newValue == nil else { return }
                (parts.user, parts.password, parts.port) = (nil, nil, nil)
            }
        }
    }

    /// The path of the URL, not percent-encoded.
    ///
    /// With a host, a path without a leading slash gets one.
    public var path: String {
        get { url.path(percentEncoded: false) }
        set {
            change { parts in
                parts.path = parts.host == nil || newValue.hasPrefix("/") ? newValue : "/" + newValue
            }
        }
    }

    /// The items of the URL's query, not percent-encoded; nil: there is no query.
    public var queryItems: [URLQueryItem]? {
        get { URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems }
        set {
            change { parts in
                parts.queryItems = newValue
                // A server reads a plus as a space.
                parts.percentEncodedQuery = parts.percentEncodedQuery?.replacing("+", with: "%2B")
            }
        }
    }

    private mutating func change(_ body: (inout URLComponents) -> Void) {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) ?? URLComponents()
        body(&parts)
        url = parts.url ?? Self.relative
    }

    /// The URL of a request without parts.
    private static var relative: URL { URL(string: "/") ?? URL(filePath: "/") }
}

/// The scheme of a request that has no host so far.
private enum SchemeOption: HTTPRequestOption {
    static let defaultValue = "https"
}

// The names of "HTTP in Swift", where bodies are types.

// swift-format-ignore: AlwaysUseLowerCamelCase
/// A body with a value encoded as JSON, as ``HTTPBody/json(_:encoder:)``.
///
/// A value that cannot be encoded fails the request.
public func JSONBody(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) -> HTTPBody {
    do {
        return try .json(value, encoder: encoder)
    } catch {
        return HTTPBody(.restartable(length: nil) { throw error }, contentType: "application/json")
    }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// A body with the fields of a web form, as ``HTTPBody/form(_:)``.
public func FormBody(_ fields: [URLQueryItem]) -> HTTPBody {
    .form(fields.map { (name: $0.name, value: $0.value ?? "") })
}
