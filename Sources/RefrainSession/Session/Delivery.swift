/// Counts the bytes of bodies for those who watch their progress, and holds streams while a request is suspended.
struct Delivery: HTTPMiddleware {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        await next.load(request)
    }
}
