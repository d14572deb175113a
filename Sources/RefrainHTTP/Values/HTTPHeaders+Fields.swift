#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension HTTPHeaders.Field {
    /// `Accept` (RFC 9110 §12.5.1).
    public static func accept(_ value: String) -> Self { Self(name: "Accept", value: value) }

    /// `Accept-Charset` (RFC 9110 §12.5.2).
    public static func acceptCharset(_ value: String) -> Self { Self(name: "Accept-Charset", value: value) }

    /// `Accept-Language` (RFC 9110 §12.5.4).
    public static func acceptLanguage(_ value: String) -> Self { Self(name: "Accept-Language", value: value) }

    /// `Accept-Encoding` (RFC 9110 §12.5.3).
    ///
    /// A transport sets it to the codings that it decodes. If a request has this field, `CurlLoader` sends it
    /// unchanged, and content with an unsupported coding is returned undecoded.
    public static func acceptEncoding(_ value: String) -> Self { Self(name: "Accept-Encoding", value: value) }

    /// `Authorization` with a user and a password, `Basic` (RFC 7617).
    public static func authorization(username: String, password: String) -> Self {
        authorization("Basic \(Data("\(username):\(password)".utf8).base64EncodedString())")
    }

    /// `Authorization` with a token, `Bearer` (RFC 6750).
    public static func authorization(bearerToken: String) -> Self { authorization("Bearer \(bearerToken)") }

    /// `Authorization` (RFC 9110 §11.6.2).
    public static func authorization(_ value: String) -> Self { Self(name: "Authorization", value: value) }

    /// `Content-Disposition` (RFC 6266).
    public static func contentDisposition(_ value: String) -> Self { Self(name: "Content-Disposition", value: value) }

    /// `Content-Encoding` (RFC 9110 §8.4).
    public static func contentEncoding(_ value: String) -> Self { Self(name: "Content-Encoding", value: value) }

    /// `Content-Type` (RFC 9110 §8.3).
    public static func contentType(_ value: String) -> Self { Self(name: "Content-Type", value: value) }

    /// `User-Agent` (RFC 9110 §10.1.5).
    public static func userAgent(_ value: String) -> Self { Self(name: "User-Agent", value: value) }

    /// `Sec-WebSocket-Protocol` (RFC 6455 §11.3.4).
    public static func websocketProtocol(_ value: String) -> Self { Self(name: "Sec-WebSocket-Protocol", value: value) }
}

extension HTTPHeaders.Field {
    /// `Accept-Encoding` with the codings that most servers offer: `br;q=1.0, gzip;q=0.9, deflate;q=0.8`.
    public static let defaultAcceptEncoding = acceptEncoding(qualityEncoded(["br", "gzip", "deflate"]))

    /// `Accept-Language` with the user's preferred languages, up to six.
    ///
    /// On Apple platforms they are the system's; elsewhere those of `LANGUAGE`, `LC_ALL`, `LC_MESSAGES` and `LANG`, or
    /// else `en`.
    public static var defaultAcceptLanguage: Self {
        acceptLanguage(qualityEncoded(Array(preferredLanguages.prefix(6))))
    }

    /// `User-Agent` with the program's name and this library's: `tool (Linux) Refrain`.
    public static var defaultUserAgent: Self {
        let path = CommandLine.arguments.first ?? ""
        let name = path.split(separator: "/").last.map(String.init) ?? "unknown"
        let token = name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
        return userAgent("\(token) (\(system)) Refrain")
    }

    private static var system: String {
        #if os(Linux)
        "Linux"
        #elseif os(macOS)
        "macOS"
        #elseif os(iOS)
        "iOS"
        #elseif os(tvOS)
        "tvOS"
        #elseif os(watchOS)
        "watchOS"
        #elseif os(visionOS)
        "visionOS"
        #else
        "Unknown"
        #endif
    }

    private static var preferredLanguages: [String] {
        #if canImport(FoundationEssentials)
        let environment = ProcessInfo.processInfo.environment
        let names = ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"]
        let text = names.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let languages = text.split(separator: ":").compactMap { entry -> String? in
            let language = String(entry.prefix { $0 != "." && $0 != "@" }.map { $0 == "_" ? "-" : $0 })
            return language.isEmpty || ["C", "POSIX"].contains(language) ? nil : language
        }
        return languages.isEmpty ? ["en"] : languages
        #else
        return Locale.preferredLanguages
        #endif
    }

    /// Values in falling order of preference: 1.0, then 0.9 and so on.
    private static func qualityEncoded(_ values: [String]) -> String {
        values.prefix(10).enumerated().map { index, value in
            index == 0 ? "\(value);q=1.0" : "\(value);q=0.\(10 - index)"
        }
        .joined(separator: ", ")
    }
}

extension HTTPHeaders {
    /// The fields that Alamofire's sessions send by default: `Accept-Encoding`, `Accept-Language` and `User-Agent`.
    ///
    /// They are not sent unless a request names them. `Accept-Encoding` is the transport's to choose: libcurl's sends
    /// the codings that it undoes in the place of this one.
    public static var `default`: HTTPHeaders {
        [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]
    }

    /// Whether `Accept-Encoding` is that of ``default``, which leaves the choice to the transport.
    package var hasDefaultCodings: Bool { self["Accept-Encoding"] == Field.defaultAcceptEncoding.value }
}

extension HTTPHeaders {
    /// Makes fields from a dictionary, sorted by name; of names that differ in case alone, the last one counts.
    public init(_ dictionary: [String: String]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value) })
    }

    /// Makes fields from field lines; of several with one name, the last one counts, at the position of the first.
    ///
    /// To keep repeats, write an array literal or call ``add(_:_:)``.
    public init(_ fields: [Field]) {
        self.init()
        reserveCapacity(fields.count)
        for field in fields { update(field) }
    }

    /// Sets a field: all lines of that name become this one.
    ///
    /// As in Alamofire; ``add(_:_:)`` adds a further line.
    public mutating func add(name: String, value: String) { self[name] = value }

    /// Sets a field: all lines of that name become this one.
    public mutating func add(_ field: Field) { self[field.name] = field.value }

    /// Sets a field: all lines of that name become this one.
    public mutating func update(name: String, value: String) { self[name] = value }

    /// Sets a field: all lines of that name become this one.
    public mutating func update(_ field: Field) { self[field.name] = field.value }

    /// Removes all fields of a name.
    public mutating func remove(name: String) { remove(name) }

    /// The first value of a name, or nil.
    public func value(for name: String) -> String? { self[name] }

    /// These fields, sorted by name in lower case; lines of one name stay in their order.
    public func sorted() -> HTTPHeaders {
        var copy = self
        copy.sort()
        return copy
    }

    /// The fields by name; the lines of one name are joined by commas (RFC 9110 §5.3).
    public var dictionary: [String: String] {
        var names: [String: String] = [:]
        var values: [String: String] = [:]
        for field in fields {
            let name = names[field.name.lowercased(), default: field.name]
            names[field.name.lowercased()] = name
            values[name] = values[name].map { "\($0), \(field.value)" } ?? field.value
        }
        return values
    }
}

extension HTTPHeaders.Field: CustomStringConvertible {
    /// The field line in wire format.
    public var description: String { "\(name): \(value)" }
}
