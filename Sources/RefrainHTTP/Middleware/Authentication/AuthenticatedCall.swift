/// One request on its way through a stage that signs: at most two sends, the second with a new credential (rule R27).
struct AuthenticatedCall<Credential: Sendable> {
    /// Finds the desk; where there is none yet, it is opened only if that is wanted.
    let desk: (_ opening: Bool) -> CredentialDesk<Credential>?
    /// Whether a credential is obtained before the first send, rather than when the server asks for one.
    let signsBeforehand: Bool
    /// Whether a 401 speaks of this kind of credential.
    let isChallenge: (HTTPResponse) -> Bool
    /// The value of `Authorization`.
    let fieldValue: (Credential) -> String
    /// The failure of a request that was refused with a new credential; nil: the response stands.
    let refusal: AuthenticationFailure?
    let clocks: ClockPair

    private typealias Ticket = CredentialTurns<Credential>.Ticket

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        // Fields that the caller has set stand, and what a redirect has dropped stays dropped (rule R26).
        guard request.headers["Authorization"] == nil,
            !request.headersDroppedByRedirect.contains("authorization")
        else { return await next.load(request) }
        let original: HTTPRequest
        do {
            // Both sends have the same key (rule R5), also where no stage further out has written it.
            original = try request.withIdempotencyKeyWritten()
        } catch {
            return .failure(error)
        }

        let began = clocks.now
        var ticket = Ticket.unsigned
        var ready = original
        if let desk = desk(signsBeforehand) {
            guard !desk.isWithinWork else { return await next.load(original) }
            let (answer, isLate) = await original.withinDeadline(on: clocks) { [signsBeforehand] in
                await desk.sign(obtaining: signsBeforehand)
            }
            switch answer {
            case .credential(let credential, let given):
                ticket = given
                ready = signed(original, with: credential)
            case .unsigned(let given): ticket = given
            case .failure(let failure): return .failure(failure.error(of: original, after: nil))
            case .cancelled: return .failure(isLate ? late(original) : cancelled(original, after: nil))
            }
        }
        guard let first = limited(ready, since: began) else { return .failure(late(ready)) }
        let sent = clocks.now
        let exchange: Exchange
        let refusing: CredentialDesk<Credential>
        // A scope of its own: what was refused shall not live on beside the replay.
        do {
            let result = await next.load(first)
            guard case .success(let response) = result, isRefusal(response, of: first), let desk = desk(true),
                !desk.isWithinWork
            else { return result }
            let all = Exchange(response: response, start: sent - began, duration: clocks.now - sent)
            let facts = RetryFacts(original, result, attempt: .first, remaining: nil, now: clocks.wallNow)
            if case .unsafe(let reason, let rules) = ReplaySafety.judge(facts) {
                // The request is lost, but the next one shall not be refused for the same credential.
                desk.markRefused(ticket)
                return all.stands(reason, rules.union(Rules(27)))
            }
            exchange = all.withoutStream
            refusing = desk
        }
        return await replay(original, after: exchange, ticket, refusing, began, next)
    }

    private struct Exchange {
        private(set) var response: HTTPResponse
        let start: Duration
        let duration: Duration

        private var result: HTTPResult { .success(response) }

        /// The exchange without a body that nobody has read: it holds a connection, which the request for a new
        /// credential may need, and the replay (rule R28).
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
        ) -> CallRecord {
            var record = CallRecord()
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
            HTTPResult.failure(error).recorded(record(.finish, reason, rules).attempts)
        }

        func stands(_ reason: RetryReason, _ rules: Rules) -> HTTPResult {
            result.recorded(record(.finish, reason, rules).attempts)
        }
    }

    /// Sends a refused request once more, with a new credential.
    private func replay(
        _ original: HTTPRequest,
        after exchange: Exchange,
        _ ticket: Ticket,
        _ desk: CredentialDesk<Credential>,
        _ began: Duration,
        _ next: any HTTPLoader
    ) async -> HTTPResult {
        let ended = clocks.now
        let credential: Credential
        let newTicket: Ticket
        guard let waiting = limited(original, since: began) else {
            desk.markRefused(ticket)
            return exchange.stands(.deadlineExceeded, Rules(20, 27))
        }
        let (answer, isLate) = await waiting.withinDeadline(on: clocks) { await desk.replace(ticket) }
        switch answer {
        case .credential(let new, let given): (credential, newTicket) = (new, given)
        case .failure(let failure):
            return exchange.ended(failure.error(of: original, after: exchange.response), .finalStatus, Rules(27))
        case .cancelled where isLate: return exchange.stands(.deadlineExceeded, Rules(20, 27))
        case .cancelled, .unsigned:
            return exchange.ended(cancelled(original, after: exchange.response), .cancelled, Rules(9))
        }
        guard let request = limited(signed(original, with: credential), since: began) else {
            return exchange.stands(.deadlineExceeded, Rules(20, 27))
        }
        let sent = clocks.now
        var record = exchange.record(.retry, .credentialsRefreshed, Rules(27), delay: sent - ended)
        let result = await next.load(request)
        var outcome = result
        if case .success(let response) = result, isRefusal(response, of: request), let refusal {
            desk.markRefused(newTicket)
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
        return outcome.recorded(record.attempts)
    }

    private func signed(_ request: HTTPRequest, with credential: Credential) -> HTTPRequest {
        var copy = request
        copy.headers["Authorization"] = fieldValue(credential)
        return copy.withoutDroppedHeaders()
    }

    /// Whether the origin that was to be convinced refused; another one, to which a redirect led, never saw the
    /// credential.
    private func isRefusal(_ response: HTTPResponse, of request: HTTPRequest) -> Bool {
        response.status == .unauthorized && (request.origin == nil || response.request.origin == request.origin)
            && isChallenge(response)
    }

    /// The request with what is left of its deadline; nil where nothing is (rule R20).
    private func limited(_ request: HTTPRequest, since began: Duration) -> HTTPRequest? {
        request.deadline == nil ? request : request.afterWaiting(clocks.now - began)
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
