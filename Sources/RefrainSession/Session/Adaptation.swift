/// Runs the adapters before each try, on the original request, and tells the monitor of the try.
///
/// An adapter's error fails the try with ``RefrainError/requestAdaptationFailed(error:by:attempts:)``.
enum Adaptation {
    /// Notes that a try begins.
    static func begin(_ request: HTTPRequest, _ owner: Request) throws(HTTPError) {
        guard !Task.isCancelled else { throw HTTPError(.cancelled, request: request, bytesSent: 0) }
        owner.beginTry()
    }

    /// What is sent, with a note of it; the monitor is told, also where the request could not be made.
    static func conclude(
        _ adapted: Result<HTTPRequest, RefrainError>,
        _ request: HTTPRequest,
        _ owner: Request
    ) throws(HTTPError) -> HTTPRequest {
        switch adapted {
        case .success(let sent):
            owner.note(sent: sent)
            if owner.line.hasAdapters { owner.watcher?.request(owner, didAdapt: request, to: sent) }
            if let watcher = owner.watcher {
                watcher.request(owner, didStartAttempt: owner.tryCount, with: sent)
            }
            return sent
        case .failure(let error):
            guard !error.isExplicitlyCancelledError else { throw HTTPError(.cancelled, request: request, bytesSent: 0) }
            owner.watcher?.request(owner, didFailToAdapt: request, error: error)
            throw error.asHTTPError(request)
        }
    }

    static func adapt(
        _ request: HTTPRequest,
        of owner: Request,
        attempt: Int
    ) async -> Result<HTTPRequest, RefrainError> {
        guard let session = owner.session else { return .failure(.sessionDeinitialized) }
        let state = RequestAdapterState(request: owner, session: session, attempt: attempt)
        var adapted = request
        for adapter in owner.line.adapters {
            do {
                adapted = try await adapter.adapt(adapted, using: state).keepingOptions(of: request)
            } catch {
                if Task.isCancelled { return .failure(.explicitlyCancelled) }
                return .failure(.requestAdaptationFailed(error: error, by: "\(type(of: adapter))"))
            }
        }
        return checked(adapted.keepingKey(of: request), of: owner, request)
    }

    /// What goes on in place of the original, if it may be sent.
    static func checked(
        _ adapted: HTTPRequest,
        of owner: Request,
        _ original: HTTPRequest
    ) -> Result<HTTPRequest, RefrainError> {
        guard !owner.sessionReference.isGone else { return .failure(.sessionDeinitialized) }
        guard adapted.method != .get || adapted.body.isEmpty else {
            return .failure(.requestValidationFailed(reason: .bodyDataInGETRequest(length: adapted.body.length)))
        }
        return .success(adapted.keepingPlace(of: original))
    }
}
