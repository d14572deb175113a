// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// Makes the request of one attempt: waits while the request is suspended, and runs the adapters.
///
/// An adapter's error fails the attempt with ``RefrainError/requestAdaptationFailed(error:by:attempts:)``.
enum RequestAdaptation {
    private typealias Adapted = Result<HTTPRequest, RefrainError>

    /// An attempt that is ready to be sent.
    struct Attempt {
        /// The request as the adapters made it.
        let adapted: HTTPRequest
        /// When it begins, for `didFinishAttempt`; nil without a monitor.
        private let began: Duration?
        private let number: Int

        fileprivate init(_ number: Int, _ request: HTTPRequest, _ owner: Request, _ clocks: RetryClocks) {
            adapted = request
            self.number = number
            began = owner.watcher == nil ? nil : clocks.now
        }

        /// What is sent: a retry stage of the transport must not act on the strategy a second time.
        var sent: HTTPRequest { adapted.withoutStrategy }

        /// Reports the result of the attempt to the monitor, and returns it with the strategy that the adapters gave.
        func end(with result: HTTPResult, of owner: Request, in pipeline: RequestPipeline) -> HTTPResult {
            if let began {
                let duration = pipeline.clocks.now - began
                owner.watcher?.request(owner, didFinishAttempt: number, with: result, after: duration)
            }
            guard let strategy = adapted.retryStrategy else { return result }
            return result.with(strategy)
        }
    }

    /// Returns the attempt, made from the original request, or what ends it before anything is sent.
    static func prepare(
        _ original: HTTPRequest,
        of owner: Request,
        in pipeline: RequestPipeline
    ) async -> Result<Attempt, HTTPError> {
        let number: Int
        let adapted: Adapted
        var isLate = false
        if owner.gate.isOpen, owner.interceptors.adapters.isEmpty {
            let made: Adapted
            (number, made) = make(original, of: owner)
            adapted = made.flatMap { checked($0, of: owner, original) }
        } else {
            ((number, adapted), isLate) = await original.withinDeadline {
                await owner.gate.pass()
                guard !Task.isCancelled else { return (0, .failure(.explicitlyCancelled)) }
                let (number, remade) = make(original, of: owner)
                let made = remade.flatMap(\.withoutBodyInGET)
                guard case .success(let request) = made else { return (number, made) }
                return (number, await adapt(request, original, of: owner, number))
            }
        }
        switch adapted {
        case .success(let request):
            guard !request.isPastDeadline else { return .failure(late(request)) }
        case .failure(.explicitlyCancelled) where isLate: return .failure(late(original))
        case .failure: break
        }
        return sending(adapted, original, number, owner).map { Attempt(number, $0, owner, pipeline.clocks) }
    }

    /// Begins an attempt; returns its number, and its request before adaptation.
    private static func make(_ original: HTTPRequest, of owner: Request) -> (Int, Adapted) {
        let number = owner.beginAttempt()
        return (number, remade(original, for: number, of: owner))
    }

    /// Publishes what is sent, or why nothing is.
    private static func sending(
        _ adapted: Adapted,
        _ original: HTTPRequest,
        _ attempt: Int,
        _ owner: Request
    ) -> Result<HTTPRequest, HTTPError> {
        guard !Task.isCancelled else { return .failure(HTTPError(.cancelled, request: original, bytesSent: 0)) }
        switch adapted {
        case .success(let adapted):
            let sent: HTTPRequest
            do throws(HTTPError) {
                sent = try adapted.withIdempotencyKeyWritten()
            } catch {
                return .failure(error)
            }
            guard owner.publish(sending: sent) else {
                let message = "cancelled before it was sent"
                return .failure(HTTPError(.cancelled, request: original, message: message, bytesSent: 0))
            }
            if owner.interceptors.hasAdapters { owner.watcher?.request(owner, didAdapt: original, to: sent) }
            owner.watcher?.request(owner, didStartAttempt: attempt, with: sent)
            return .success(sent)
        case .failure(.explicitlyCancelled):
            return .failure(HTTPError(.cancelled, request: original, bytesSent: 0))
        case .failure(let error):
            owner.watcher?.request(owner, didFailToAdapt: original, error: error)
            return .failure(error.asHTTPError(original))
        }
    }

    /// Returns the request of an attempt before adaptation: after the first one, what the caller's code makes then.
    ///
    /// What a redirect points to is not a request of the caller's making.
    private static func remade(_ original: HTTPRequest, for attempt: Int, of owner: Request) -> Adapted {
        guard attempt > 1, let remake = owner.remake, case .success(let first) = owner.original,
            first.url == original.url, first.method == original.method
        else { return .success(original) }
        return remake().map { made in
            owner.changedBeforeStart(made).replacing(original).keepingKey(of: original)
        }
    }

    private static func adapt(
        _ made: HTTPRequest,
        _ original: HTTPRequest,
        of owner: Request,
        _ attempt: Int
    ) async -> Adapted {
        guard !owner.interceptors.adapters.isEmpty else { return checked(made, of: owner, original) }
        guard let session = owner.session else { return .failure(.sessionDeinitialized) }
        let state = RequestAdapterState(request: owner, session: session, attempt: attempt)
        var adapted = made
        // The adapter that gave a GET a body.
        var author: (any RequestAdapter)?
        for adapter in owner.interceptors.adapters {
            do {
                adapted = try await adapter.adapt(adapted, using: state).replacing(adapted)
                author = adapted.hasBodyInGET ? author ?? adapter : nil
            } catch {
                if Task.isCancelled { return .failure(.explicitlyCancelled) }
                return .failure(.requestAdaptationFailed(error: error, by: "\(type(of: adapter))"))
            }
        }
        let checked = checked(adapted.keepingKey(of: original), of: owner, original)
        guard let author, case .failure(.requestValidationFailed) = checked else { return checked }
        return checked.mapError { .requestAdaptationFailed(error: $0, by: "\(type(of: author))") }
    }

    /// Returns the request, if it may be sent.
    private static func checked(
        _ adapted: HTTPRequest,
        of owner: Request,
        _ original: HTTPRequest
    ) -> Adapted {
        guard !owner.sessionBox.isGone else { return .failure(.sessionDeinitialized) }
        return adapted.withoutBodyInGET.map { $0.withoutHeaders(droppedFrom: original) }
    }

    private static func late(_ request: HTTPRequest) -> HTTPError {
        request.tooLate("before the request was ready to be sent")
    }
}

extension HTTPRequest {
    fileprivate var hasBodyInGET: Bool { method == .get && !body.isEmpty }

    /// This request, or the error of a GET with a body.
    fileprivate var withoutBodyInGET: Result<HTTPRequest, RefrainError> {
        guard hasBodyInGET else { return .success(self) }
        return .failure(.requestValidationFailed(reason: .bodyDataInGETRequest(length: body.length)))
    }

    /// Returns this request in the place of `original`.
    ///
    /// What it says itself counts, such as a timeout or a key; the rest is the original's.
    fileprivate func replacing(_ original: HTTPRequest) -> HTTPRequest {
        let isNew = deadline == nil && original.deadline != nil
        var copy = keepingOptions(of: original)
        copy.secretHeaders.formUnion(original.secretHeaders)
        guard isNew, let timeout else { return copy }
        // The time of the call has begun.
        (copy.timeout, copy.deadline) = (original.timeout, original.deadline)
        copy.timeout = timeout
        return copy
    }

    /// Returns this request with the idempotency key of `original`, if an adapter has replaced all header fields.
    fileprivate func keepingKey(of original: HTTPRequest) -> HTTPRequest {
        let name = idempotencyKeyField
        guard let key = original.headers[name], !headers.contains(name) else { return self }
        var copy = self
        copy.headers[name] = key
        return copy
    }
}

extension HTTPRequest {
    /// This request without a retry strategy of its own.
    fileprivate var withoutStrategy: HTTPRequest {
        guard retryStrategy != nil else { return self }
        var copy = self
        copy.retryStrategy = nil
        return copy
    }

    /// This request as one that no call has sent.
    var withoutDeadline: HTTPRequest {
        guard deadline != nil else { return self }
        var copy = self
        copy.deadline = nil
        return copy
    }
}

extension HTTPResult {
    /// This result of a request that has a retry strategy of its own.
    fileprivate func with(_ strategy: any RetryStrategy) -> HTTPResult {
        switch self {
        case .success(var response):
            response.request.retryStrategy = strategy
            return .success(response)
        case .failure(var error):
            error.request.retryStrategy = strategy
            return .failure(error)
        }
    }
}
