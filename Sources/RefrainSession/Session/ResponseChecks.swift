/// Hands the response of each try to the request's checks and readers.
///
/// The response goes on as it is: what was wrong with it is noted on the ``Request``, where the retriers find it.
/// A redirect that will be followed is not looked at, since it is no answer yet.
enum ResponseChecks {
    /// Has the owner of a request look at the response; false where the response has not passed.
    ///
    /// Not inlined: a request that waits for its answer would keep a part of it.
    @inline(never)
    static func pass(_ result: HTTPResult, of request: HTTPRequest, _ owner: Request) -> Bool {
        guard case .success(let response) = result else { return true }
        if request.followsRedirects, isFollowed(response.status.rawValue) { return true }
        return owner.inspect(response) && response.status.rawValue < 400
    }

    /// Whether ``Redirect`` follows a status.
    private static func isFollowed(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }
}
