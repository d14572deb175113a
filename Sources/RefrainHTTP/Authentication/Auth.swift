/// Selects the authentication stage of each request; all of them share the stages that follow.
///
/// ```swift
/// let auth = Auth([.basic: BasicAuth { _ in try await askUser() }, .oauth: oauth], default: .oauth)
/// let loader = ResetGuard() --> Retry(RetryPolicy.recommended) --> auth --> CurlLoader()
/// request.authentication = .basic
/// ```
///
/// A request asks by ``HTTPRequest/authentication``; one that asks for nothing gets the default. A method that no stage
/// stands for fails with ``HTTPError/Code/callerFailed`` before anything is sent.
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

        /// A sentence that describes the error.
        public var description: String {
            switch self {
            case .missingCredential: "there is no credential to sign the request with"
            case .excessiveRefresh: "the credential was refreshed too often in a short time"
            }
        }
    }
}
