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
        let adapted: HTTPRequest
        do throws(RefrainError) {
            adapted = try await adapt(request, of: owner, attempt: number)
        } catch {
            if case .explicitlyCancelled = error {
                return .failure(HTTPError(.cancelled, request: request, bytesSent: 0))
            }
            owner.monitor.request(owner, didFailToAdapt: request, error: error)
            return .failure(error.asHTTPError(request))
        }
        owner.note(sent: adapted)
        if !owner.line.adapters.isEmpty { owner.monitor.request(owner, didAdapt: request, to: adapted) }
        owner.monitor.request(owner, didStartAttempt: number, with: adapted)
        let began = clocks.now
        let result = await next.load(adapted)
        owner.monitor.request(owner, didFinishAttempt: number, with: result, after: clocks.now - began)
        return result
    }

    private func adapt(
        _ request: HTTPRequest,
        of owner: Request,
        attempt: Int
    ) async throws(RefrainError) -> HTTPRequest {
        guard let session = owner.session else { throw .sessionDeinitialized }
        let state = RequestAdapterState(requestID: owner.id, session: session, attempt: attempt)
        var adapted = request
        for adapter in owner.line.adapters {
            do {
                adapted = try await adapter.adapt(adapted, using: state)
            } catch {
                if Task.isCancelled { throw .explicitlyCancelled }
                throw .requestAdaptationFailed(error: error, by: "\(type(of: adapter))")
            }
        }
        guard adapted.method != .get || adapted.body.isEmpty else {
            throw .requestValidationFailed(reason: .bodyDataInGETRequest(length: adapted.body.length))
        }
        return adapted.keepingPlace(of: request)
    }
}
