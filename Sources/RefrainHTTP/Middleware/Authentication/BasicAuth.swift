/// Authenticates with a user's name and password, for which it asks once (RFC 7617).
///
/// ```swift
/// let basic = BasicAuth { request in try await askUser(for: request.origin) }
/// let loader = Retry(RetryPolicy.recommended) --> basic --> CurlLoader()
/// ```
///
/// However many requests need credentials, the closure is called once for them all, and the others wait for its
/// answer. Credentials belong to one origin. Those that were refused are asked for anew, and the request is
/// sent once more (rule R27); where it is refused again, it fails with ``HTTPError/Code/userAuthenticationRequired``.
///
/// Where the closure answers nil, all who wait fail with ``HTTPError/Code/userCancelledAuthentication``; where it
/// throws, with ``HTTPError/Code/userAuthenticationRequired``. The next request asks again. Requests that the closure
/// itself makes on this chain are not signed. A request with an `Authorization` of its own is left alone, and
/// so is one that a redirect took its credentials from (rule R26). The stage belongs inside of ``Retry`` and
/// ``Redirect``. The idea is from "HTTP in Swift".
public struct BasicAuth: HTTPMiddleware {
    /// When credentials are asked for.
    public enum Timing: Hashable, Sendable {
        /// When a server answers with a 401 that offers this scheme.
        case onChallenge
        /// Before the first request to an origin is sent.
        case beforehand
    }

    private typealias Desk = CredentialDesk<BasicCredentials>

    private let timing: Timing
    private let clocks: ClockPair
    private let ask: @Sendable (BasicCredentialsRequest) async throws -> BasicCredentials?
    private let desks = Locked<[Origin: Desk]>([:])

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - timing: when credentials are asked for.
    ///   - clocks: the clocks that the record of attempts is kept by.
    ///   - ask: gives credentials, or nil where there are to be none. It runs in a task that a reset cancels, and that
    ///     goes on where the request that began it is cancelled.
    public init(
        _ timing: Timing = .onChallenge,
        clocks: ClockPair = .system,
        ask: @escaping @Sendable (_ request: BasicCredentialsRequest) async throws -> BasicCredentials?
    ) {
        self.timing = timing
        self.clocks = clocks
        self.ask = ask
    }

    /// How many requests wait for credentials.
    public var numberOfWaitingRequests: Int { allDesks.reduce(0) { $0 + $1.waitingCount } }

    /// Signs a request where credentials are known, and asks for them where they are needed.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard request.authentication == .automatic || request.authentication == .basic, let origin = request.origin
        else { return await next.load(request) }
        let call = AuthenticatedCall<BasicCredentials>(
            desk: { desk(of: origin, opening: $0) },
            signsBeforehand: timing == .beforehand,
            isChallenge: Self.isChallenge,
            fieldValue: \.fieldValue,
            refusal: AuthenticationFailure(
                code: .userAuthenticationRequired,
                message: "\(origin) refused the credentials"
            ),
            clocks: clocks
        )
        return await call.load(request, next: next)
    }

    /// Forgets all credentials, and ends the wait for them; these requests end with ``HTTPError/Code/cancelled``.
    public func reset() async {
        for desk in allDesks { await desk.reset() }
    }

    private var allDesks: [Desk] { desks.withLock { Array($0.values) } }

    private func desk(of origin: Origin, opening: Bool) -> Desk? {
        desks.withLock { desks in
            if let desk = desks[origin] { return desk }
            guard opening else { return nil }
            let desk = Desk { [ask] refused in
                do {
                    let wanted = BasicCredentialsRequest(origin: origin, refused: refused)
                    if let credentials = try await ask(wanted) { return .success(credentials) }
                    return .failure(.declined("no credentials were given for \(origin)"))
                } catch {
                    return .failure(.thrown(error, by: "asking for credentials"))
                }
            }
            desks[origin] = desk
            return desk
        }
    }

    /// A server that names schemes must name this one; one that names none, though it must, is taken to mean it.
    private static func isChallenge(_ response: HTTPResponse) -> Bool {
        let challenges = AuthenticationChallenge.parse(fieldValues: response.headers[values: "WWW-Authenticate"])
        return challenges.isEmpty || challenges.contains { $0.scheme == "basic" }
    }
}

extension BasicAuth: SpeaksForUser {
    var userGeneration: Int { allDesks.reduce(0) { $0 + $1.resetCount } }
}
