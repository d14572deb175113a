// SPDX-License-Identifier: Apache-2.0
/// The credential of a stage: one type for all of them, so that the code around it is compiled once.
enum AuthorizationCredential: Sendable {
    case basic(BasicAuth.Credentials)
    case token(OAuth.Token)

    /// The value of `Authorization`.
    var fieldValue: String {
        switch self {
        case .basic(let credentials): credentials.fieldValue
        case .token(let token): token.fieldValue
        }
    }
}

/// One request in a stage that signs: at most two sends, the second one with a new credential (rule R27).
struct AuthenticatedCall {
    /// The credential of a stage, and the requests that wait for it.
    typealias Refresher = CredentialRefresher<AuthorizationCredential>

    /// Returns the refresher; nil where there is none yet and none is to be made.
    let refresher: (_ makes: Bool) -> Refresher?
    /// Obtains a credential in place of one that is out of date or was refused.
    let refresh: Refresher.Refresh
    /// Whether a credential is obtained before the first send, rather than after a 401.
    let signsBeforeChallenge: Bool
    /// Whether a 401 requests this kind of credential.
    let isChallenge: (HTTPResponse) -> Bool
    /// The error of a request that was refused with a new credential; nil: the response is the result.
    let refusal: AuthenticationFailure?
    let clocks: RetryClocks

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        // Fields of the caller are kept, and fields that a redirect removed are not added.
        guard request.headers["Authorization"] == nil,
            !request.headersDroppedByRedirect.contains("authorization")
        else { return await next.load(request) }
        let original: HTTPRequest
        do {
            // Both sends have the same idempotency key, also if no earlier stage has set it.
            original = try request.withIdempotencyKeyWritten().beginningCall(on: clocks)
        } catch {
            return .failure(error)
        }

        let began = clocks.now
        var version = CredentialVersion()
        var ready = original
        if let refresher = refresher(signsBeforeChallenge) {
            guard !refresher.isWithinRefresh else { return await next.load(original) }
            let (answer, isLate) = await original.withinDeadline { [signsBeforeChallenge, refresh] in
                await refresher.sign(obtaining: signsBeforeChallenge, by: refresh)
            }
            switch answer {
            case .credential(let credential, let given):
                version = given
                ready = signed(original, with: credential)
            case .unsigned(let given): version = given
            case .failure(let failure):
                return .failure(AuthenticationFailure(failure).error(of: original, after: nil))
            case .cancelled: return .failure(isLate ? late(original) : cancelled(original, after: nil))
            }
        }
        guard !ready.isPastDeadline else { return .failure(late(ready)) }
        let first = ready
        let sent = clocks.now
        let exchange: Exchange
        let refusing: Refresher
        // A scope of its own: the refused response must not be kept during the replay.
        do {
            let result = await next.load(first)
            guard case .success(let response) = result, isRefusal(response, of: first), let refresher = refresher(true),
                !refresher.isWithinRefresh
            else { return result }
            let all = Exchange(response: response, start: sent - began, duration: clocks.now - sent)
            let context = RetryContext(original, result, attempt: .first, remaining: nil, now: clocks.wallNow)
            if case .unsafe(let reason, let rules) = ReplaySafety.decide(context) {
                // The request is not sent again, but later ones must not be signed with the same credential.
                refresher.markRefused(version)
                return all.stands(reason, rules.union([.credentialRefresh]))
            }
            exchange = all.withoutStream
            refusing = refresher
        }
        return await replay(original, after: exchange, version, refusing, began, next)
    }

    private struct Exchange {
        private(set) var response: HTTPResponse
        let start: Duration
        let duration: Duration

        private var result: HTTPResult { .success(response) }

        /// The exchange without an unread body, which occupies a connection that the request for a new credential, or
        /// the replay, may need.
        var withoutStream: Exchange {
            var copy = self
            copy.response.dropStream()
            return copy
        }

        func record(
            _ decision: AttemptRecord.Decision,
            _ reason: RetryReason,
            _ rules: Rules,
            delay: Duration = .zero
        ) -> AttemptLog {
            var record = AttemptLog()
            record.add(
                result,
                start: start,
                duration: duration,
                decision: decision,
                reason: reason,
                rules: rules,
                delay: delay
            )
            return record
        }

        func ended(_ error: HTTPError, _ reason: RetryReason, _ rules: Rules) -> HTTPResult {
            HTTPResult.failure(error).recorded(record(.finish, reason, rules))
        }

        func stands(_ reason: RetryReason, _ rules: Rules) -> HTTPResult {
            result.recorded(record(.finish, reason, rules))
        }
    }

    /// Sends a refused request once more, with a new credential.
    private func replay(
        _ original: HTTPRequest,
        after exchange: Exchange,
        _ version: CredentialVersion,
        _ refresher: Refresher,
        _ began: Duration,
        _ next: any HTTPLoader
    ) async -> HTTPResult {
        let ended = clocks.now
        let credential: AuthorizationCredential
        let newVersion: CredentialVersion
        guard !original.isPastDeadline else {
            refresher.markRefused(version)
            return exchange.stands(.deadlineExceeded, [.deadline, .credentialRefresh])
        }
        let (answer, isLate) = await original.withinDeadline { [refresh] in
            await refresher.replace(version, by: refresh)
        }
        switch answer {
        case .credential(let new, let given): (credential, newVersion) = (new, given)
        case .failure(let failure):
            let error = AuthenticationFailure(failure).error(of: original, after: exchange.response)
            return exchange.ended(error, .finalStatus, [.credentialRefresh])
        case .cancelled where isLate: return exchange.stands(.deadlineExceeded, [.deadline, .credentialRefresh])
        case .cancelled, .unsigned:
            return exchange.ended(cancelled(original, after: exchange.response), .cancelled, [.cancellation])
        }
        guard !original.isPastDeadline else {
            return exchange.stands(.deadlineExceeded, [.deadline, .credentialRefresh])
        }
        let request = signed(original, with: credential)
        let sent = clocks.now
        var record = exchange.record(.retry, .credentialsRefreshed, [.credentialRefresh], delay: sent - ended)
        let result = await next.load(request)
        var outcome = result
        if case .success(let response) = result, isRefusal(response, of: request), let refusal {
            refresher.markRefused(newVersion)
            outcome = .failure(refusal.error(of: request, after: response))
        }
        record.add(
            result,
            start: sent - began,
            duration: clocks.now - sent,
            decision: .finish,
            reason: result.attempts.last?.reason ?? Self.reason(of: result),
            rules: []
        )
        return outcome.recorded(record)
    }

    private func signed(_ request: HTTPRequest, with credential: AuthorizationCredential) -> HTTPRequest {
        var copy = request
        copy.headers["Authorization"] = credential.fieldValue
        return copy.withoutDroppedHeaders()
    }

    /// Whether the origin of the credential refused; an origin that a redirect led to did not receive it.
    private func isRefusal(_ response: HTTPResponse, of request: HTTPRequest) -> Bool {
        response.status == .unauthorized && (request.origin == nil || response.request.origin == request.origin)
            && isChallenge(response)
    }

    private func late(_ request: HTTPRequest) -> HTTPError { request.tooLate("while it waited for credentials") }

    private func cancelled(_ request: HTTPRequest, after response: HTTPResponse?) -> HTTPError {
        HTTPError(
            .cancelled,
            request: request,
            response: response,
            message: "cancelled while it waited for credentials",
            bytesSent: response.map(\.exchange.bytesSent) ?? 0
        )
    }

    private static func reason(of result: HTTPResult) -> RetryReason {
        switch result {
        case .success(let response): response.status.rawValue < 400 ? .succeeded : .finalStatus
        case .failure(let error): error.code == .cancelled ? .cancelled : .finalFailure
        }
    }
}

/// Why there is no credential: the failure of all requests that wait for it.
struct AuthenticationFailure: Error {
    var code: HTTPError.Code
    var message: String
    var underlyingError: (any Error)?

    /// Makes the failure of a refresh that failed with an error.
    init(_ error: any Error) {
        self = error as? AuthenticationFailure ?? .thrown(error, by: "refreshing the credential")
    }

    init(code: HTTPError.Code, message: String, underlyingError: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlyingError = underlyingError
    }

    /// The user declined to give credentials.
    static func declined(_ message: String, _ error: (any Error)? = nil) -> AuthenticationFailure {
        AuthenticationFailure(code: .userCancelledAuthentication, message: message, underlyingError: error)
    }

    /// The caller's code threw.
    ///
    /// Its own cancellation counts as the user declining, not as a cancellation of the waiting requests.
    static func thrown(_ error: any Error, by name: String) -> AuthenticationFailure {
        if error is CancellationError || (error as? HTTPError)?.code == .cancelled {
            return .declined("\(name) was cancelled", error)
        }
        let reason = (error as? HTTPError).map { "\($0.code.rawValue), \($0.request)" } ?? "\(error)"
        return AuthenticationFailure(
            code: .userAuthenticationRequired,
            message: "\(name) failed: \(reason)",
            underlyingError: error
        )
    }

    /// The error of one waiting request.
    ///
    /// - Parameter response: the response that requested credentials; nil if the request was not sent.
    func error(of request: HTTPRequest, after response: HTTPResponse?) -> HTTPError {
        var error = HTTPError(
            code,
            request: request,
            response: response,
            underlyingError: underlyingError,
            message: message,
            bytesSent: response.map(\.exchange.bytesSent) ?? 0
        )
        error.lastFailure = (underlyingError as? HTTPError)?.code
        return error
    }
}
