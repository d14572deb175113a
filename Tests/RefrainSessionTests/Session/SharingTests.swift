import RefrainSession
import Testing

private struct ForeignRequest: Error {}

@Suite("Sessions that share exchanges")
struct SharingTests {
    private let stage = Deduplicate()
    private let mayEnd = Signal()

    private func session(_ loader: any HTTPLoader, _ interceptor: (any RequestInterceptor)? = nil) -> Session {
        Session.testing(loader, interceptor: interceptor) { [stage] in $0.deduplicate = stage }
    }

    /// Answers these statuses in order, the first one when it may.
    private func loader(_ statuses: Int...) -> ScriptedLoader {
        let number = Counter()
        return ScriptedLoader(
            .compute { [mayEnd] request in
                await mayEnd.wait()
                let status = statuses[min(number.increment(), statuses.count) - 1]
                let body = HTTPBody.text("\(status)")
                return .success(HTTPResponse(request: request, status: HTTPStatus(rawValue: status), body: body))
            }
        )
    }

    private func waiting(_ count: Int) async {
        while stage.numberOfWaitingRequests != count { await Task.yield() }
    }

    @Test("identical requests share one exchange; each has its own checks and its own readers")
    func sharing() async throws {
        let loader = loader(200)
        let session = session(loader)
        let first = session.request(HTTPRequest.sample).validate().serializingString()
        let strict = session.request(HTTPRequest.sample).validate(statusCode: 300..<400).serializingData()
        await waiting(2)
        mayEnd.set()
        #expect(try await first.value == "200")
        #expect(await strict.response.error?.responseCode == 200)
        #expect(loader.requests.count == 1)
    }

    @Test("the checks of a request that joins see what it asked for, and not what the first one sent")
    func ownRequest() async throws {
        let session = session(loader(200))
        let adapter = Adapter { request, _ in
            var request = request
            request.headers["Authorization"] = "secret"
            return request
        }
        let first = session.request(HTTPRequest.sample, interceptor: Interceptor(adapters: [adapter]))
            .serializingString()
        await waiting(1)
        let second = session.request(HTTPRequest.sample)
            .validate { request, _, _ in
                request?.headers["Authorization"] == nil ? .success(()) : .failure(ForeignRequest())
            }
            .serializingString()
        await waiting(2)
        mayEnd.set()
        #expect(try await first.value == "200")
        #expect(try await second.value == "200")
    }

    @Test("who began the exchange may go; its retriers are asked on behalf of those who stay")
    func ownerKeeping() async throws {
        let loader = loader(503, 200)
        let session = session(loader, try RetryPolicy(exponentialBackoffScale: 0))
        weak var began: DataRequest?
        func begin() async -> DataTask<String> {
            let request = session.request(HTTPRequest.sample).validate()
            began = request
            let task = request.serializingString()
            await waiting(1)
            return task
        }
        func leave() async {
            let task = await begin()
            stays = session.request(HTTPRequest.sample).validate().serializingString()
            await waiting(2)
            began?.cancel()
            #expect(await task.response.error?.isExplicitlyCancelledError == true)
            await waiting(1)
        }
        var stays: DataTask<String>?
        await leave()
        // Nobody here holds the first request any more.
        mayEnd.set()
        #expect(try await stays?.value == "200")
        #expect(loader.requests.count == 2)
        while began != nil { await Task.yield() }
    }
}
