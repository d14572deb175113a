/// Hands the response of each try to the request's checks and readers.
///
/// The response goes on as it is: what was wrong with it is noted on the ``Request``, where the retriers find it.
/// A redirect that will be followed is not looked at, since it is no answer yet.
struct ResponseChecks: HTTPMiddleware {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let result = await next.load(request)
        guard let owner = request.sessionRequest, case .success(let response) = result else { return result }
        if request.followsRedirects, Self.redirects.contains(response.status.rawValue) { return result }
        owner.inspect(response)
        if owner.failure(of: result) != nil { await owner.discardTry() }
        return result
    }

    /// The statuses that ``Redirect`` follows.
    private static let redirects: Set = [301, 302, 303, 307, 308]
}
