// SPDX-License-Identifier: Apache-2.0
/// A request method (RFC 9110 §9), with its properties from the IANA method registry.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The method's name; methods are case-sensitive.
    public let rawValue: String

    /// Makes a method from its name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Makes a method from its name.
    public init(stringLiteral name: String) { rawValue = name }

    /// The method's name.
    public var description: String { rawValue }

    /// GET (RFC 9110 §9.3.1).
    public static let get = HTTPMethod(rawValue: "GET")
    /// HEAD (RFC 9110 §9.3.2).
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// POST (RFC 9110 §9.3.3).
    public static let post = HTTPMethod(rawValue: "POST")
    /// PUT (RFC 9110 §9.3.4).
    public static let put = HTTPMethod(rawValue: "PUT")
    /// DELETE (RFC 9110 §9.3.5).
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// CONNECT (RFC 9110 §9.3.6).
    public static let connect = HTTPMethod(rawValue: "CONNECT")
    /// OPTIONS (RFC 9110 §9.3.7).
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    /// TRACE (RFC 9110 §9.3.8).
    public static let trace = HTTPMethod(rawValue: "TRACE")
    /// PATCH (RFC 5789).
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// QUERY (RFC 10008): a safe method with a body.
    public static let query = HTTPMethod(rawValue: "QUERY")

    /// Whether the method is read-only (RFC 9110 §9.2.1).
    public var isSafe: Bool {
        // Nearly every method is GET, and is told at a tenth of the cost.
        rawValue == "GET" || Self.safeMethods.contains(rawValue)
    }

    /// Whether several identical requests have the effect of one (RFC 9110 §9.2.2).
    public var isIdempotent: Bool { isSafe || Self.idempotentMethods.contains(rawValue) }

    /// Whether the name is a token (RFC 9110 §5.6.2).
    public var isValid: Bool { HTTPToken.isValid(rawValue) }

    /// The methods that the IANA registry lists as safe.
    private static let safeMethods: Set<String> = [
        "GET", "HEAD", "OPTIONS", "PRI", "PROPFIND", "QUERY", "REPORT", "SEARCH", "TRACE",
    ]

    /// The methods that the IANA registry lists as idempotent but not safe.
    private static let idempotentMethods: Set<String> = [
        "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "COPY", "DELETE", "LABEL", "LINK", "MERGE",
        "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "ORDERPATCH", "PROPPATCH",
        "PUT", "REBIND", "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF",
        "VERSION-CONTROL",
    ]
}
