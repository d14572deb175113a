#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Where a response sends its request (rule R26): a pure function of both.
enum RedirectTarget {
    /// The response is the answer.
    case none
    /// The request goes on, as this one.
    case follow(HTTPRequest)
    /// The response points nowhere that may be followed.
    case refused(HTTPError.Code, String)

    /// Reads a response.
    init(of response: HTTPResponse, to request: HTTPRequest) {
        switch response.status.rawValue {
        case 301, 302, 303, 307, 308: break
        default:
            self = .none
            return
        }
        let locations = response.headers[values: "Location"]
        guard let location = locations.first, !location.isEmpty, locations.allSatisfy({ $0 == location }) else {
            self = .refused(.redirectToNonExistentLocation, "a \(response.status) without a single Location")
            return
        }
        guard let url = Self.resolve(location, against: request), let target = Origin(url),
            (1...65_535).contains(target.port)
        else {
            self = .refused(
                .redirectToNonExistentLocation,
                "the Location \"\(location.prefix(200))\" cannot be followed"
            )
            return
        }
        if request.origin?.scheme == "https", target.scheme != "https" {
            self = .refused(.insecureRedirect, "the Location \(target) would leave TLS")
            return
        }
        var next = request
        next.url = url
        if Self.becomesGet(response.status, request.method) {
            next.method = .get
            next.body = .empty
            for name in Self.fieldsOfTheBody { next.headers.remove(name) }
        } else if next.body.replayability == .onceAndRead {
            self = .refused(.requestBodyStreamExhausted, "the \(response.status) wants the body again, which is spent")
            return
        }
        if target != request.origin { next.dropCredentials() }
        self = .follow(next)
    }

    /// The absolute URL, without the user and password that a server may have put there.
    private static func resolve(_ location: String, against request: HTTPRequest) -> URL? {
        guard let url = URL(string: location, relativeTo: request.url)?.absoluteURL else { return nil }
        guard url.user() != nil || url.password() != nil else { return url }
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
        parts.user = nil
        parts.password = nil
        return parts.url
    }

    /// RFC 9110 §15.4: 301 and 302 may turn POST into GET, as clients always did; 303 asks for GET.
    private static func becomesGet(_ status: HTTPStatus, _ method: HTTPMethod) -> Bool {
        switch status.rawValue {
        case 301, 302: method == .post
        case 303: method != .head
        default: false
        }
    }

    /// Fields that describe a body, and leave with it.
    private static let fieldsOfTheBody = [
        "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-MD5", "Digest",
        "Content-Digest", "Repr-Digest",
    ]
}
