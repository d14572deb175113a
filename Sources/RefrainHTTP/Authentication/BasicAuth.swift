// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Authenticates with a user name and password (RFC 7617), which a closure provides once.
///
/// ```swift
/// let basic = BasicAuth { request in
///     try await askUser(for: request.origin)
/// }
/// let loader = Retry(RetryPolicy.recommended)
///     --> basic
///     --> PlatformLoader()
/// ```
///
/// The closure is called once for all requests that need credentials; they wait for its result. Credentials belong to
/// one origin. If the server refuses them, the closure is called again, and the request is sent once more (rule R27);
/// if it is refused again, it fails with ``HTTPError/Code/userAuthenticationRequired``.
///
/// If the closure throws, all waiting requests fail with ``HTTPError/Code/userAuthenticationRequired``; if it returns
/// nil, they fail with ``HTTPError/Code/userCancelledAuthentication``. The next request calls it again. Requests that
/// the closure makes on this chain are not signed. A request with its own `Authorization` is not changed, and neither
/// is one from which a redirect has removed the credentials (rule R26). The stage belongs inside of ``Retry`` and
/// ``Redirect``.
public struct BasicAuth: HTTPMiddleware {
    /// When credentials are requested from the closure.
    public enum Timing: Hashable, Sendable {
        /// After a 401 that offers this scheme.
        case onChallenge
        /// Before the first request to an origin is sent.
        case beforehand
    }

    private typealias Refresher = AuthenticatedCall.Refresher

    private let timing: Timing
    private let clocks: RetryClocks
    private let ask: @Sendable (CredentialsRequest) async throws -> Credentials?
    private let refreshers = Locked<[Origin: Refresher]>([:])

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - timing: when credentials are requested. Defaults to `.onChallenge`.
    ///   - clocks: the clocks of the attempt records.
    ///   - ask: returns credentials, or nil to decline. It runs in a task that a reset cancels; the cancellation of the
    ///     request that started it has no effect.
    public init(
        _ timing: Timing = .onChallenge,
        clocks: RetryClocks = .system,
        ask: @escaping @Sendable (_ request: CredentialsRequest) async throws -> Credentials?
    ) {
        self.timing = timing
        self.clocks = clocks
        self.ask = ask
    }

    /// The number of requests that wait for credentials.
    public var numberOfWaitingRequests: Int { allRefreshers.reduce(0) { $0 + $1.waitingCount } }

    /// Authenticates a request if credentials are known, and requests them if they are needed.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard request.authentication == .automatic || request.authentication == .basic, let origin = request.origin
        else { return await next.load(request) }
        let call = AuthenticatedCall(
            refresher: { refresher(of: origin, making: $0) },
            refresh: { [ask] refused in
                let previous: Credentials? = if case .basic(let credentials) = refused { credentials } else { nil }
                do {
                    let request = CredentialsRequest(origin: origin, refused: previous)
                    if let credentials = try await ask(request) { return .success(.basic(credentials)) }
                    return .failure(AuthenticationFailure.declined("no credentials were given for \(origin)"))
                } catch {
                    return .failure(AuthenticationFailure.thrown(error, by: "asking for credentials"))
                }
            },
            signsBeforeChallenge: timing == .beforehand,
            isChallenge: Self.isChallenge,
            refusal: AuthenticationFailure(
                code: .userAuthenticationRequired,
                message: "\(origin) refused the credentials"
            ),
            clocks: clocks
        )
        return await call.load(request, next: next)
    }

    /// Discards all credentials, and ends the waits for them with ``HTTPError/Code/cancelled``.
    public func reset() async {
        for refresher in allRefreshers { await refresher.reset(cancellingRefresh: true) }
    }

    private var allRefreshers: [Refresher] { refreshers.withLock { Array($0.values) } }

    private func refresher(of origin: Origin, making makes: Bool) -> Refresher? {
        refreshers.withLock { refreshers in
            if refreshers[origin] == nil, makes { refreshers[origin] = Refresher() }
            return refreshers[origin]
        }
    }

    /// If the challenge names schemes, it must name this one; a challenge without a scheme is accepted.
    private static func isChallenge(_ response: HTTPResponse) -> Bool {
        let challenges = AuthenticationChallenge.parse(fieldValues: response.headers[values: "WWW-Authenticate"])
        return challenges.isEmpty || challenges.contains { $0.scheme == "basic" }
    }
}

extension BasicAuth: CredentialScoped {
    var userGeneration: Int { allRefreshers.reduce(0) { $0 + $1.resetCount } }
}

extension BasicAuth {
    /// A user name and password (RFC 7617).
    public struct Credentials: Hashable, Sendable {
        /// The user name.
        public let user: String
        /// The password.
        public let password: String

        /// Makes credentials.
        ///
        /// - Throws: ``/RefrainCore/InvalidArgument`` for a user name with a colon, which the scheme does not allow
        ///   (RFC 7617 §2).
        public init(user: String, password: String) throws(InvalidArgument) {
            guard !user.utf8.contains(UInt8(ascii: ":")) else {
                throw InvalidArgument("user", is: "a name with a colon", expected: "a name without a colon")
            }
            self.user = user
            self.password = password
        }

        /// The value of `Authorization`, with the text encoded as UTF-8.
        public var fieldValue: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
    }
}

extension BasicAuth.Credentials: CustomStringConvertible, CustomDebugStringConvertible {
    /// The user name, without the password.
    public var description: String { "credentials of \(user)" }

    /// The user name, without the password.
    public var debugDescription: String { description }
}

extension BasicAuth {
    /// The purpose of credentials that ``BasicAuth`` requests.
    public struct CredentialsRequest: Hashable, Sendable {
        /// The only origin that the credentials are sent to.
        public let origin: Origin
        /// The credentials that the server refused; nil if none were sent.
        public let refused: Credentials?
    }
}
