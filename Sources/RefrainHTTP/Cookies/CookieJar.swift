// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Cookies that responses set and later requests send (RFC 6265), as a stage of a chain.
///
/// ```swift
/// let jar = CookieJar()
/// let session = Session(loader: jar --> PlatformLoader())
/// let logIn = session.request(
///     logInURL, method: .post, parameters: form
/// )
/// _ = try await logIn.validate().serializingData().value
/// // Later requests to that host carry the session's cookie.
/// ```
///
/// Put it next to the transport: inside of retries and redirects, so that each attempt and each hop sends the cookies
/// of its own URL. A chain has no cookies without this stage, and several chains may share one. A `Cookie` field of the
/// request is kept after the jar's. `SameSite` has no effect, because a request has no site that it comes from.
///
/// The jar is in memory, and can be read from and written to a file in Netscape's format, which curl reads. It holds up
/// to 3,000 cookies, 180 for each domain, of up to 4 KiB each; when it is full, expired ones are removed, then
/// the oldest.
public final class CookieJar: HTTPMiddleware {
    /// One cookie.
    public struct Cookie: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
        /// The host that the cookie is sent to, in lower case.
        public var domain: String
        /// Whether the cookie is sent to the hosts below its domain as well; defaults to false.
        public var includesSubdomains: Bool
        /// The path that the cookie is sent to, with all that is below it; defaults to `/`.
        public var path: String
        /// When the cookie expires; nil, the default: never, as long as the jar exists.
        public var expires: WallClock.Instant?
        /// Whether the cookie is sent by TLS only, and to this machine itself; defaults to false.
        public var isSecure: Bool
        /// Whether browsers hide the cookie from scripts; kept for the file; defaults to false.
        public var isHTTPOnly: Bool

        /// Makes a cookie.
        ///
        /// A dot at the beginning of the domain is dropped, and stands for `includesSubdomains` (RFC 6265 §5.2.3).
        public init(
            name: String,
            value: String,
            domain: String,
            includesSubdomains: Bool = false,
            path: String = "/",
            expires: WallClock.Instant? = nil,
            isSecure: Bool = false,
            isHTTPOnly: Bool = false
        ) {
            self.name = name
            self.value = value
            let isDotted = domain.hasPrefix(".")
            self.domain = (isDotted ? String(domain.dropFirst()) : domain).lowercased()
            self.includesSubdomains = includesSubdomains || isDotted
            self.path = path
            self.expires = expires
            self.isSecure = isSecure
            self.isHTTPOnly = isHTTPOnly
        }
    }

    private let clocks: RetryClocks
    private let contents = Locked<[Cookie]>([])

    /// The limits of RFC 6265 §6.1, as browsers and curl have them.
    static let limits = (cookies: 3000, ofDomain: 180, bytes: 4096)

    /// Makes an empty jar.
    ///
    /// - Parameter clocks: whose wall clock cookies expire by.
    public init(clocks: RetryClocks = .system) { self.clocks = clocks }

    /// Makes a jar with the cookies of a text in Netscape's format; lines that are not cookies are skipped.
    public convenience init(netscape text: String, clocks: RetryClocks = .system) {
        self.init(clocks: clocks)
        insert(netscape: text)
    }

    /// The cookies that have not expired, the oldest first.
    public var cookies: [Cookie] {
        let now = clocks.wallNow
        return contents.withLock { $0.filter { !$0.isExpired(at: now) } }
    }

    /// Adds a cookie, or replaces the one with its name, domain and path; an expired one removes that.
    ///
    /// One with a control character is not added: it would spoil the field of a request, and the lines of a file.
    public func insert(_ cookie: Cookie) {
        guard cookie.hasNoControls else { return }
        let now = clocks.wallNow
        contents.withLock { Self.insert(cookie, into: &$0, now) }
    }

    /// Adds the cookies of a text in Netscape's format.
    public func insert(netscape text: String) {
        // By bytes: a value may contain the line breaks that only Unicode knows.
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            if let cookie = Cookie(netscapeLine: String(Substring(line))) { insert(cookie) }
        }
    }

    /// Removes all cookies.
    public func removeAll() { contents.withLock { $0 = [] } }

    /// The value of `Cookie` for a request to a URL (RFC 6265 §5.4), or nil if no cookie is for it.
    public func field(for url: URL) -> String? {
        guard let target = CookieTarget(url) else { return nil }
        let now = clocks.wallNow
        let matching = contents.withLock { cookies in
            cookies.filter { !$0.isExpired(at: now) && target.receives($0) }
        }
        guard !matching.isEmpty else { return nil }
        // Longer paths first, then older cookies.
        let ordered = matching.enumerated().sorted {
            ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
        }
        return ordered.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
    }

    /// Keeps what a response sets, as far as its URL may set it (RFC 6265 §5.3).
    ///
    /// - Parameters:
    ///   - fields: the values of `Set-Cookie`, one for each line.
    ///   - url: the URL that answered.
    public func insert(setCookie fields: [String], from url: URL) {
        guard !fields.isEmpty, let source = CookieTarget(url) else { return }
        let now = clocks.wallNow
        for field in fields {
            guard let cookie = Cookie(setCookie: field, from: source, now: now) else { continue }
            contents.withLock { cookies in
                // A response without TLS may be forged, and neither replaces a secure cookie nor is sent beside it
                // (RFC 6265bis §5.7).
                let covered = cookies.contains { $0.isSecure && $0.overlaps(cookie) && !$0.isExpired(at: now) }
                guard source.isSecure || !covered else { return }
                Self.insert(cookie, into: &cookies, now)
            }
        }
    }

    /// Sends the cookies of the request's URL, and keeps those that the response sets.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        var request = request
        if let field = field(for: request.url) {
            request.headers["Cookie"] = request.headers["Cookie"].map { "\(field); \($0)" } ?? field
        }
        let result = await next.load(request)
        if let response = result.response {
            // A stage further in may have followed a redirect: what another host answers is not this one's to set.
            insert(setCookie: response.headers[values: "Set-Cookie"], from: response.request.url)
        }
        return result
    }

    private static func insert(_ cookie: Cookie, into cookies: inout [Cookie], _ now: WallClock.Instant) {
        let old = cookies.firstIndex { $0.isSame(as: cookie) }
        guard !cookie.isExpired(at: now) else {
            if let old { cookies.remove(at: old) }
            return
        }
        // A replaced cookie keeps its age, by which cookies are ordered.
        if let old {
            cookies[old] = cookie
            return
        }
        cookies.append(cookie)
        func isDomainFull() -> Bool { cookies.count { $0.domain == cookie.domain } > limits.ofDomain }
        guard cookies.count > limits.cookies || isDomainFull() else { return }
        // What has expired makes room before what is still sent (RFC 6265 §5.3).
        cookies.removeAll { $0.isExpired(at: now) }
        if isDomainFull(), let oldest = cookies.firstIndex(where: { $0.domain == cookie.domain }) {
            cookies.remove(at: oldest)
        }
        if cookies.count > limits.cookies { cookies.removeFirst() }
    }
}

extension CookieJar.Cookie {
    /// Whether both stand for the same cookie, so that one replaces the other (RFC 6265 §5.3, step 11).
    func isSame(as other: Self) -> Bool { name == other.name && domain == other.domain && path == other.path }

    /// Whether a request can be for both, so that another cookie of the name would be sent beside this one.
    func overlaps(_ other: Self) -> Bool {
        guard name == other.name, CookieTarget.isPath(other.path, below: path) else { return false }
        return domain == other.domain || domain.hasSuffix("." + other.domain) || other.domain.hasSuffix("." + domain)
    }

    fileprivate var hasNoControls: Bool {
        [name, value, domain, path].allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    }

    func isExpired(at now: WallClock.Instant) -> Bool { expires.map { $0 <= now } ?? false }
}
