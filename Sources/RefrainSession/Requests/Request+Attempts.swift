internal import RefrainCore

/// The state that a request publishes while its pipeline runs.
extension Request: RequestOwner, AttemptDecider {
    /// A check of a response, or a reader of its content; returns what is wrong with it.
    typealias Inspection = @Sendable (HTTPRequest, HTTPResponse) -> RefrainError?

    /// A check of a response.
    struct Validation: Sendable {
        let inspect: Inspection
        /// Whether it names the statuses that are accepted.
        let checksStatus: Bool
    }

    /// A serializer of a response's content.
    struct Serialization: Sendable {
        let inspect: Inspection
    }

    /// Adds a validation of each attempt's response; `checksStatus` is whether it validates the status.
    func addValidation(checksStatus: Bool, _ inspection: @escaping Inspection) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.validations.append(Validation(inspect: inspection, checksStatus: checksStatus))
        }
    }

    /// Adds a serializer, which runs on each attempt's valid response.
    func addSerialization(_ inspection: @escaping Inspection) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.serializations.append(Serialization(inspect: inspection))
        }
    }

    /// Publishes that an attempt begins; returns its number, from 1.
    func beginAttempt() -> Int {
        state.withLock { state in
            state.currentError = nil
            state.response = nil
            state.attemptCount += 1
            return state.attemptCount
        }
    }

    /// Publishes the adapted request of an attempt; returns false if the request was cancelled.
    ///
    /// The task of a request that is being started may not have been cancelled yet.
    func publish(sending request: HTTPRequest) -> Bool {
        let handlers = state.withLock { state -> [@Sendable (String) -> Void]? in
            // Others may share the exchange of a request that was cancelled.
            guard !state.isTaskCancelled || state.cold?.sharesExchange == true else { return nil }
            state.requests.append(request)
            return state.takeCURLHandlers()
        }
        guard let handlers else { return false }
        describe(to: handlers)
        return true
    }

    /// Whether a status that would be a failure may pass the checks.
    func accepts(_ response: HTTPResponse) -> Bool {
        let (validations, sent) = state.withLock { ($0.validations, $0.requests.last) }
        let head = response.withoutBody
        return validations.firstAnswer { check -> Bool? in
            guard check.checksStatus else { return nil }
            return check.inspect(sent ?? response.request, head) == nil
        } ?? false
    }

    /// Hands a response to the checks until one fails, then to the serializers, and returns what they found.
    func validate(_ response: HTTPResponse) -> AttemptOutcome {
        let kept = keepsBodies ? response : response.withoutBody
        let (validations, serializations, sent) = state.withLock { state in
            state.response = kept
            // A request that joined another exchange has sent nothing; it validates against its own request.
            let sent = state.requests.last ?? (try? original.get()) ?? response.request
            return (state.validations, state.serializations, sent)
        }
        let error = validations.firstAnswer { $0.inspect(sent, response) }
        let isStatusAccepted = error == nil && validations.firstAnswer { $0.checksStatus ? true : nil } == true
        var outcome = AttemptOutcome(.success(response), isStatusAccepted: isStatusAccepted)
        if !validations.isEmpty {
            watcher?.request(self, didValidate: response, error: error)
            if let error {
                outcome.validationError = error
                // An invalid stream is not read, and frees its connection.
                if !keepsBodies { outcome.result = .success(kept) }
                return outcome
            }
        }
        serializations.forEach { serialization in
            guard let error = serialization.inspect(sent, response) else { return }
            if outcome.serializationError == nil { outcome.serializationError = error }
        }
        return outcome
    }

    /// Reads a response whose body was deferred, then hands it to the checks and serializers.
    ///
    /// Few responses need it: not inlined, as the frames of all would have room for it.
    @inline(never)
    func readAndInspect(_ response: HTTPResponse, to request: HTTPRequest) async -> AttemptOutcome {
        switch await response.collected(for: request) {
        case .success(let whole): await inspect(whole, to: request)
        case .failure(let error): AttemptOutcome(.failure(error))
        }
    }

    /// Returns the error of an attempt for the retriers; nil if it succeeded.
    func failure(of outcome: AttemptOutcome) -> RefrainError? {
        switch outcome.result {
        case .failure(let error): return RefrainError(of: error)
        case .success(let response):
            if let known = outcome.validationError ?? outcome.serializationError { return known as? RefrainError }
            guard !outcome.isSuccess else { return nil }
            return .responseValidationFailed(reason: .unacceptableStatusCode(code: response.status.rawValue))
        }
    }

    /// Returns what follows an attempt: what the retriers decide, or else the policy of the request or the session.
    @usableFromInline
    package func decide(
        _ outcome: AttemptOutcome,
        in context: RetryContext,
        for request: HTTPRequest
    ) async -> RetryDecision {
        await interceptors.decide(outcome, in: context, for: self, request.retryStrategy)
    }

    /// Publishes a failed attempt before the retriers run.
    ///
    /// Not inlined: the frame of a request whose retriers decide would have room for it.
    @inline(never)
    func publish(_ failure: RefrainError, of outcome: AttemptOutcome, in context: RetryContext) {
        state.withLock { state in
            state.currentError = failure
            state.retryContext = .known(context)
            if case .failure(let error) = outcome.result { state.response = error.response }
        }
    }

    /// Publishes the record after a decision, with the newest attempt last.
    @usableFromInline
    package func record(_ attempts: [AttemptRecord]) {
        guard let last = attempts.indices.last else { return }
        state.withLock { state in
            if attempts[last].decision == .retry { state.retryCount += 1 }
            // The stage's own list, while it is the same; after a redirect a new one has begun.
            guard !state.attempts.isEmpty || last > 0 else { return state.attempts = attempts }
            state.attempts.append(attempts[last])
            state.attempts[state.attempts.count - 1].number = state.attempts.count
        }
        guard let watcher else { return }
        let record = attempts[last]
        switch record.decision {
        case .retry:
            watcher.requestIsRetrying(self)
            watcher.request(self, willRetryAfter: record.delay, reason: record.reason)
        case .finish:
            guard record.reason != .succeeded else { return }
            watcher.request(self, didGiveUp: record.reason)
        }
    }

    /// Continues a shared exchange for the other requests, also while this one is suspended.
    func sharesExchange() {
        for waiter in state.withLock({ $0.shareExchange() }) { waiter.resume() }
    }

    /// Whether this is the first replay for an authenticator.
    func claimReplay(for authenticator: ObjectIdentifier) -> Bool {
        state.withLock { $0.withColdState { $0.replays.insert(authenticator).inserted } }
    }
}

extension HTTPResponse {
    /// This response with an empty body.
    var withoutBody: HTTPResponse {
        var copy = self
        copy.body = .empty
        return copy
    }
}
