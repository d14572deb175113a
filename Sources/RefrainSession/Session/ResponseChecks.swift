/// Hands the response of each try to the request's checks and readers.
///
/// The response goes on as it is: what was wrong with it is noted on the ``Request``, where the retriers find it.
/// A redirect that will be followed is not looked at, since it is no answer yet.
struct ResponseChecks: HTTPMiddleware {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let result = await next.load(request)
        if let owner = failedOwner(request, result) { await owner.discardTry() }
        return result
    }

    /// Has the owner of a request look at the response; answers it where the response has not passed.
    @inline(never)
    private func failedOwner(_ request: HTTPRequest, _ result: HTTPResult) -> Request? {
        guard let owner = request.sessionRequest, case .success(let response) = result else { return nil }
        if request.followsRedirects, Self.isFollowed(response.status.rawValue) { return nil }
        owner.inspect(response)
        return owner.failure(of: result) == nil ? nil : owner
    }

    /// Whether ``Redirect`` follows a status.
    private static func isFollowed(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }
}
