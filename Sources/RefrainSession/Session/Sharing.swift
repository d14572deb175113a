/// Lets requests share exchanges by a stage for that, except for those that adapters change, and those with an
/// interceptor of their own.
///
/// Two requests that ask for the same may be signed for two users, and what an adapter makes of them is known only
/// further in, for each try anew: these have exchanges of their own. And who begins an exchange has its retriers asked
/// for all who join, so a request that has other ones than its session joins nobody.
struct Sharing: BelongsToChain {
    let stage: any HTTPMiddleware

    func forChain() -> Sharing { Sharing(stage: stage.inItsOwnChain) }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        if let line = request.sessionRequest?.line, !line.adapters.isEmpty || line.isRequestsOwn {
            return await next.load(request)
        }
        return await stage.load(request, next: next)
    }

    func reset() async { await stage.reset() }

    func reset(next: any HTTPLoader) async { await stage.reset(next: next) }
}
