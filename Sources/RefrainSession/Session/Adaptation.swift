/// Runs the adapters before each try, on the original request, and tells the monitor of the try.
///
/// An adapter's error fails the try with ``RefrainError/requestAdaptationFailed(error:by:)``. A request that is
/// suspended waits here.
struct Adaptation: HTTPMiddleware {
    let clocks: ClockPair

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard let owner = request.sessionRequest else { return await next.load(request) }
        await owner.gate.pass()
        guard !Task.isCancelled else { return .failure(HTTPError(.cancelled, request: request, bytesSent: 0)) }
        let number = owner.beginTry()
        let adapted =
            owner.line.adapters.isEmpty
            ? checked(request, of: owner, request) : await adapt(request, of: owner, attempt: number)
        guard let sent = begin(adapted, request, owner, number) else { return ending(adapted, request, owner) }
        guard owner.sessionReference.isWatched else { return await next.load(sent) }
        return await load(sent, of: owner, number, next)
    }

    // Apart, so that nobody else reads a clock for it, or keeps what it reports.
    @inline(never)
    private func load(_ sent: HTTPRequest, of owner: Request, _ number: Int, _ next: any HTTPLoader) async -> HTTPResult
    {
        let began = clocks.now
        let result = await next.load(sent)
        owner.monitor.request(owner, didFinishAttempt: number, with: result, after: clocks.now - began)
        return result
    }

    /// Notes what is sent, and tells the monitor; nil where nothing is sent.
    @inline(never)
    private func begin(
        _ adapted: Result<HTTPRequest, RefrainError>,
        _ request: HTTPRequest,
        _ owner: Request,
        _ number: Int
    ) -> HTTPRequest? {
        guard case .success(let sent) = adapted else { return nil }
        owner.note(sent: sent)
        if owner.line.hasAdapters { owner.monitor.request(owner, didAdapt: request, to: sent) }
        owner.monitor.request(owner, didStartAttempt: number, with: sent)
        return sent
    }

    /// The end of a try whose request could not be made.
    @inline(never)
    private func ending(
        _ adapted: Result<HTTPRequest, RefrainError>,
        _ request: HTTPRequest,
        _ owner: Request
    ) -> HTTPResult {
        guard case .failure(let error) = adapted, !error.isCancellation else {
            return .failure(HTTPError(.cancelled, request: request, bytesSent: 0))
        }
        owner.monitor.request(owner, didFailToAdapt: request, error: error)
        return .failure(error.asHTTPError(request))
    }

    @inline(never)
    private func adapt(
        _ request: HTTPRequest,
        of owner: Request,
        attempt: Int
    ) async -> Result<HTTPRequest, RefrainError> {
        guard let session = owner.session else { return .failure(.sessionDeinitialized) }
        let state = RequestAdapterState(request: owner, session: session, attempt: attempt)
        var adapted = request
        for adapter in owner.line.adapters {
            do {
                adapted = try await adapter.adapt(adapted, using: state)
            } catch {
                if Task.isCancelled { return .failure(.explicitlyCancelled) }
                return .failure(.requestAdaptationFailed(error: error, by: "\(type(of: adapter))"))
            }
        }
        return checked(adapted, of: owner, request)
    }

    /// What goes on in place of the original, if it may be sent.
    @inline(never)
    private func checked(
        _ adapted: HTTPRequest,
        of owner: Request,
        _ original: HTTPRequest
    ) -> Result<HTTPRequest, RefrainError> {
        guard owner.session != nil else { return .failure(.sessionDeinitialized) }
        guard adapted.method != .get || adapted.body.isEmpty else {
            return .failure(.requestValidationFailed(reason: .bodyDataInGETRequest(length: adapted.body.length)))
        }
        return .success(adapted.keepingPlace(of: original))
    }
}

extension RefrainError {
    fileprivate var isCancellation: Bool {
        if case .explicitlyCancelled = self { return true }
        return false
    }
}
