// SPDX-License-Identifier: Apache-2.0
/// Selects the authentication stage of each request; all of them share the stages that follow.
///
/// ```swift
/// let auth = Auth(
///     [
///         .basic: BasicAuth { _ in try await askUser() },
///         .oauth: oauth
///     ],
///     default: .oauth
/// )
/// let loader = ResetGuard()
///     --> Retry(RetryPolicy.recommended)
///     --> auth
///     --> PlatformLoader()
/// request.authentication = .basic
/// ```
///
/// A request selects its method by ``HTTPRequest/authentication``; otherwise the default applies. A request whose
/// method has no stage fails with ``HTTPError/Code/callerFailed`` before it is sent.
public struct Auth: HTTPMiddleware {
    private let stages: [Method: any HTTPMiddleware]
    private let defaultMethod: Method

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - stages: the stage of each method.
    ///   - method: the method of requests without one.
    public init(
        _ stages: [Method: any HTTPMiddleware],
        default method: Method = .none
    ) {
        self.stages = stages
        defaultMethod = method
    }

    /// Passes a request to the stage of its method.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let wanted = request.authentication
        let method = wanted == .automatic ? defaultMethod : wanted
        guard method != .none else { return await next.load(request) }
        guard let stage = stages[method] else {
            return .failure(
                HTTPError(
                    .callerFailed,
                    request: request,
                    message: "no stage of Auth stands for the authentication method \(method)",
                    bytesSent: 0
                )
            )
        }
        // The stage has been selected; it must not check the method again.
        var chosen = request
        chosen.authentication = .automatic
        return await stage.load(chosen, next: next)
    }

    /// Resets every stage.
    public func reset() async {
        for stage in stages.values { await stage.reset() }
    }
}

extension Auth: CredentialScoped {
    var userGeneration: Int {
        stages.values.reduce(0) { $0 &+ (($1 as? any CredentialScoped)?.userGeneration ?? 0) }
    }
}

extension Auth {
    /// Why a request could not be authenticated.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// There is no credential; set the interceptor's `credential` after the user has logged in.
        case missingCredential
        /// The credential was refreshed too often; new credentials are refused as well.
        case excessiveRefresh
        /// The request waited for a refresh until its limit.
        ///
        /// A refresh that goes on longer may be slow. One that never ends waits for itself: it has sent a request on
        /// the session by a reference of its own, from a task that it detached. Send it on the session that `refresh`
        /// is given.
        case refreshTimedOut

        /// A sentence that describes the error.
        public var description: String {
            switch self {
            case .missingCredential: "there is no credential to sign the request with"
            case .excessiveRefresh: "the credential was refreshed too often in a short time"
            case .refreshTimedOut:
                """
                the refresh of the credential took too long; if it sends requests on the session that it refreshes \
                for, send them on the session that refresh(_:for:) is given: others wait for the refresh
                """
            }
        }
    }
}

extension Auth {
    /// The name of an authentication method, which stages of the chain implement.
    ///
    /// ```swift
    /// extension Auth.Method {
    ///     static let reports = Auth.Method("reports")
    /// }
    /// request.authentication = .reports
    /// ```
    public struct Method: Hashable, Sendable, CustomStringConvertible {
        private let name: String

        /// Makes a method for a stage of ``Auth``.
        public init(_ name: String) { self.name = name }

        /// The name.
        public var description: String { name }

        /// The default of the chain.
        public static let automatic = Method("automatic")
        /// No authentication: for log-in requests and for public resources.
        public static let none = Method("none")
        /// Authentication by ``BasicAuth``.
        public static let basic = Method("basic")
        /// Authentication by ``OAuth``.
        public static let oauth = Method("oauth")
    }
}

private enum AuthenticationOption: HTTPRequestOption {
    static let defaultValue = Auth.Method.automatic
}

extension HTTPRequest {
    /// The authentication method of this request; defaults to ``Auth/Method/automatic``.
    public var authentication: Auth.Method {
        get { self[option: AuthenticationOption.self] }
        set { self[option: AuthenticationOption.self] = newValue }
    }
}
