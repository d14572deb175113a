// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The target of a redirect (rule R26): a pure function of the response and its request.
enum RedirectTarget {
    /// The response is the answer.
    case none
    /// The redirect is followed with this request.
    case follow(HTTPRequest)
    /// The redirect must not be followed.
    case refused(HTTPError.Code, String)

    /// Reads a response.
    init(of response: HTTPResponse, to request: HTTPRequest) {
        switch response.status.rawValue {
        case 301, 302, 303, 307, 308: self.init(ofRedirect: response, to: request)
        default: self = .none
        }
    }

    private init(ofRedirect response: HTTPResponse, to request: HTTPRequest) {
        let locations = response.headers[values: "Location"]
        // What a stage further in, such as an adapter, says of redirects counts.
        let sent = response.request.keepingOptions(of: request)
        // Without a Location it is an answer like any other (rule R8), as the 308 of a resumable upload is.
        guard sent.followsRedirects, let location = locations.first else {
            self = .none
            return
        }
        guard !location.isEmpty, locations.allSatisfy({ $0 == location }) else {
            let problem = location.isEmpty ? "an empty Location" : "several Locations"
            self = .refused(.redirectToNonExistentLocation, "a \(response.status) with \(problem)")
            return
        }
        let base = Self.base(of: request, response)
        guard let url = Self.resolve(location, against: base), let target = Origin(url),
            (1...65_535).contains(target.port)
        else {
            let shown = URLText.withoutSecretParameters(URLText.withoutUserinfo(in: String(location.prefix(200))))
            self = .refused(.redirectToNonExistentLocation, "the Location \"\(shown)\" cannot be followed")
            return
        }
        let origin = Origin(base)
        guard !Self.leavesTLS(origin, target) else {
            self = .refused(.insecureRedirect, "the Location \(target) would leave TLS")
            return
        }
        var next = request
        next.url = url
        if Self.becomesGet(response.status, request.method) {
            next.method = .get
            next.body = .empty
            next.removeFieldsOfTheBody()
            if let durable = next.durableCall { next.durableCall = durable.answered }
        } else if next.body.replayability == .onceAndRead {
            self = .refused(.requestBodyStreamExhausted, "the \(response.status) wants the body again, which is spent")
            return
        }
        if target != origin {
            // What a stage further in has called secret is so as well.
            next.secretHeaders.formUnion(sent.secretHeaders)
            next.secretHeaders.insert(sent.idempotencyKeyField)
            next.dropCredentials()
        }
        guard let modify = sent.redirectModifier else {
            self = .follow(next)
            return
        }
        guard var changed = modify(request, next, response) else {
            self = .none
            return
        }
        // Whatever it changes, credentials that left with the origin do not come back.
        changed = changed.keepingOptions(of: next)
        let chosen = Origin(changed.url)
        guard !Self.leavesTLS(origin, chosen) else {
            self = .refused(.insecureRedirect, "the changed request of the redirect would leave TLS")
            return
        }
        // An origin that the caller's closure has chosen is another one as well.
        if chosen != target { changed.dropCredentials() }
        self = .follow(changed)
    }

    private static func leavesTLS(_ origin: Origin?, _ target: Origin?) -> Bool {
        origin?.scheme == "https" && target?.scheme != "https"
    }

    /// Whether no attempt could connect to a redirect's target, so that the origin gets the request again (rule R33).
    ///
    /// The origin gets it at most as often as the target did, and only if the request may be sent again. If a call has
    /// no retries, it has none here either.
    static func isUnreachable(_ result: HTTPResult, for request: HTTPRequest, asked: Int) -> Bool {
        guard case .failure(let error) = result, let reason = error.attempts.last?.reason,
            [.attemptsUsedUp, .timeUsedUp].contains(reason), asked < error.attempts.count,
            error.attempts.allSatisfy(failedToConnect)
        else { return false }
        return isRepeatable(request)
    }

    /// Whether the origin may get a request again that was redirected.
    static func isRepeatable(_ request: HTTPRequest) -> Bool {
        let isRepeatable = request.method.isIdempotent || request.hasIdempotencyKey || request.replay == .allowed
        let body = request.body.replayability
        return isRepeatable && request.replay != .forbidden && (body == .none || body == .replayable)
    }

    /// Whether a redirect is temporary, so that the next one may lead elsewhere.
    static func isTemporary(_ result: HTTPResult) -> Bool {
        guard case .success(let response) = result else { return false }
        return [302, 303, 307].contains(response.status.rawValue)
    }

    /// Whether a target that was there for an earlier attempt is refused to the last one, as a URL is that has expired
    /// (rule R33).
    static func hasExpired(_ result: HTTPResult) -> Bool {
        guard case .success(let response) = result, isRefused(response.status) else { return false }
        // One that was refused before, as to the credentials of an attempt, was not there.
        return response.attempts.dropLast().contains { !isRefused($0.status) }
    }

    private static func isRefused(_ status: HTTPStatus?) -> Bool {
        status.map { [401, 403, 404, 410].contains($0.rawValue) } ?? false
    }

    private static func failedToConnect(_ attempt: AttemptRecord) -> Bool {
        switch attempt.error {
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .timedOut: attempt.bytesSent == 0
        default: false
        }
    }

    /// What a Location is relative to, and whose origin counts: the URL that was sent.
    ///
    /// A stage further in, such as an adapter, may have completed the request's, or have sent it elsewhere.
    private static func base(of request: HTTPRequest, _ response: HTTPResponse) -> URL {
        response.request.url.scheme == nil ? request.url : response.request.url
    }

    /// The absolute URL, without the user and password that a server may have put there.
    ///
    /// Those of the request's own URL stay with its origin, as any other credentials, and so does its fragment where
    /// the Location has none (RFC 9110 §10.2.2).
    static func resolve(_ location: String, against base: URL) -> URL? {
        var text = URLText.escaped(location)
        if let fragment = base.fragment(percentEncoded: true), !text.utf8.contains(UInt8(ascii: "#")) {
            text += "#\(fragment)"
        }
        guard let resolved = URL(string: text, relativeTo: base)?.absoluteString,
            let url = URL(string: URLText.withoutDotSegments(resolved))
        else { return nil }
        let own = URLComponents(url: base, resolvingAgainstBaseURL: true)
        let isOwn = own?.percentEncodedUser != nil || own?.percentEncodedPassword != nil
        guard isOwn || url.user() != nil || url.password() != nil else { return url }
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
        let stays = Origin(url) == Origin(base)
        parts.percentEncodedUser = stays ? own?.percentEncodedUser : nil
        parts.percentEncodedPassword = stays ? own?.percentEncodedPassword : nil
        return parts.url
    }

    /// RFC 9110 §15.4: 301 and 302 may turn POST into GET, as clients always did; 303 requires GET.
    private static func becomesGet(_ status: HTTPStatus, _ method: HTTPMethod) -> Bool {
        switch status.rawValue {
        case 301, 302: method == .post
        case 303: method != .head
        default: false
        }
    }
}
