internal import RefrainCore

/// Signs requests, and refreshes the credential once for all who wait, however many are refused (rule R27).
///
/// ```swift
/// let authentication = AuthenticationInterceptor(authenticator: TokenAuthenticator(), credential: token)
/// let interceptor = Interceptor(interceptors: [authentication, .recommendedRetryPolicy])
/// let session = Session(loader: loader, interceptor: interceptor)
/// ```
///
/// A request that is refused is sent once more after a refresh; if it was signed with a credential from before,
/// without one. A refresh that fails fails all who wait for it, and all who were under way when it failed and are
/// refused later; a request that is signed afterwards may try again. The authenticator may make its requests on the
/// same session. Put the interceptor before retry policies, so that it is asked first.
///
/// A request whose `HTTPRequest.authentication` is ``/RefrainHTTP/AuthenticationMethod/none`` is neither signed nor
/// refreshed for.
///
/// The replay uses up no try and draws on no budget, also where an interceptor of your own wraps this one and hands its
/// answer on. A request within a try of a retry stage further out, which has all the tries, has its replay, too, where
/// this interceptor is not wrapped.
///
/// What the authenticator takes for a refusal is refreshed for; what may be sent again, rule R2 says. A 401 was not
/// processed, so every request is replayed after it. A POST that was refused with 403 or any other status is not,
/// unless it has an idempotency key or `HTTPRequest.replay` allows it: it fails, and the next request has the new
/// credential.
public final class AuthenticationInterceptor<AuthenticatorType: Authenticator>: RequestInterceptor,
    UsesNoTry
{
    /// What requests are signed with.
    public typealias Credential = AuthenticatorType.Credential

    /// Signs and refreshes.
    public let authenticator: AuthenticatorType
    /// How often the credential may be refreshed; nil: as often as it takes.
    public let refreshWindow: RefreshWindow?

    private let clock: ErasedClock
    private let state: Locked<State>

    private typealias Waiter = PendingAnswer<Result<Credential, any Error>>

    private struct State {
        var credentials: CredentialState<Credential>
        var waiters: [ObjectIdentifier: Waiter] = [:]

        mutating func takeWaiters() -> [Waiter] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
    }

    private typealias Step = CredentialState<Credential>.Step

    /// Makes the interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: signs and refreshes.
    ///   - credential: the credential to begin with; nil: requests fail with
    ///     ``/RefrainHTTP/AuthenticationError/missingCredential`` until there is one.
    ///   - refreshWindow: how often the credential may be refreshed.
    ///   - clock: what the window is measured on.
    public init(
        authenticator: AuthenticatorType,
        credential: Credential? = nil,
        refreshWindow: RefreshWindow? = .standard,
        clock: ErasedClock = ClockPair.system.monotonic
    ) {
        self.authenticator = authenticator
        self.refreshWindow = refreshWindow
        self.clock = clock
        state = Locked(State(credentials: CredentialState(credential, window: refreshWindow)))
    }

    /// The credential; setting it lets those who wait for a refresh go on with it.
    public var credential: Credential? {
        get { state.withLock { $0.credentials.credential } }
        set {
            let waiters = state.withLock { state in
                state.credentials.replace(with: newValue)
                return state.takeWaiters()
            }
            let result = newValue.map(Result<Credential, any Error>.success)
            for waiter in waiters { waiter.give(result ?? .failure(AuthenticationError.missingCredential)) }
        }
    }

    /// Signs a request, after a refresh where one is due.
    public func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest {
        guard request.authentication != .none, !isWithinRefresh else { return request }
        let (credential, rounds) = try await obtain(for: session) { credentials, now in
            credentials.sign(now: now)
        }
        var signed = request
        authenticator.apply(credential, to: &signed)
        signed[option: SignedAfter.self][ObjectIdentifier(self)] = rounds
        return signed
    }

    /// Has a refused request sent once more, after a refresh where it was signed with the present credential.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        guard let sent = request.request, sent.authentication != .none, !isWithinRefresh,
            let response = request.response,
            authenticator.didRequest(sent, with: response, failDueToAuthenticationError: error)
        else { return .doNotRetry }
        guard let credential else { return .doNotRetryWithError(AuthenticationError.missingCredential) }
        guard request.claimReplay(for: ObjectIdentifier(self)) else { return .doNotRetry }
        guard authenticator.isRequest(sent, authenticatedWith: credential) else { return retryFreely(request) }
        let rounds = sent[option: SignedAfter.self][ObjectIdentifier(self)]
        do {
            _ = try await obtain(for: session) { credentials, now in
                // Another request's refresh may have ended since.
                if let present = credentials.credential, !credentials.isRefreshing,
                    !authenticator.isRequest(sent, authenticatedWith: present)
                {
                    return .use(present)
                }
                return credentials.refused(signedAfter: rounds, now: now)
            }
            return retryFreely(request)
        } catch {
            return .doNotRetryWithError(error)
        }
    }

    var retryReason: RetryReason { .credentialsRefreshed }
    var rules: Rules { Rules(23, 27) }
    var drawsOnBudget: Bool { false }

    /// How many requests wait for the refresh that goes on.
    package var numberOfWaitingRequests: Int { state.withLock { $0.waiters.count } }

    /// Whether this code runs within a refresh of this interceptor's, and so must not wait for it.
    private var isWithinRefresh: Bool { RefreshScope.interceptors.contains(workOf: self) }

    /// Asks the state machine, does what it says, and answers the credential that comes of it, with the number of
    /// refreshes that have ended by then.
    private func obtain(
        for session: Session,
        by decide: (inout CredentialState<Credential>, Duration) -> Step
    ) async throws -> (Credential, rounds: Int) {
        let waiter = Waiter()
        let key = ObjectIdentifier(waiter)
        let now = clock.now.offset
        let (step, rounds) = state.withLock { state -> (Step, Int) in
            let step = decide(&state.credentials, now)
            // In the same step, so that no end of a refresh is missed.
            if step.waits { state.waiters[key] = waiter }
            return (step, state.credentials.endedRounds)
        }
        switch step {
        case .use(let credential): return (credential, rounds)
        case .fail(let error): throw error
        case .join: break
        case .start(let number, let credential): refresh(credential, number, for: session)
        }
        defer { state.withLock { _ = $0.waiters.removeValue(forKey: key) } }
        let credential = try await withTaskCancellationHandler {
            try await waiter.value.get()
        } onCancel: {
            waiter.give(.failure(CancellationError()))
        }
        return (credential, state.withLock { $0.credentials.endedRounds })
    }

    private func refreshed(_ credential: Credential, for session: Session) async -> Result<Credential, any Error> {
        do {
            return .success(try await authenticator.refresh(credential, for: session))
        } catch {
            return .failure(error)
        }
    }

    /// Refreshes in a task of its own: it is for all, and goes on when the request that began it is cancelled.
    private func refresh(_ credential: Credential, _ number: Int, for session: Session) {
        Task {
            let work = WorkScope(of: self)
            let outcome = await RefreshScope.$interceptors.withValue(RefreshScope.interceptors + [work]) {
                // Its requests have tries of their own, whichever try of another one began this.
                await RetryNesting.outside { await refreshed(credential, for: session) }
            }
            work.end()
            let waiters = state.withLock { state in
                state.credentials.end(number, with: outcome) ? state.takeWaiters() : []
            }
            for waiter in waiters { waiter.give(outcome) }
        }
    }
}

/// The interceptors within whose refresh this code runs.
private enum RefreshScope {
    @TaskLocal static var interceptors: [WorkScope] = []
}

/// How many refreshes of which interceptor had ended when a request was signed.
private enum SignedAfter: HTTPRequestOption {
    static let defaultValue: [ObjectIdentifier: Int] = [:]
}
