import RefrainHTTP
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("Transports that take turns")
struct RoundRobinLoaderTests {
    @Test("each request goes to the next one, and all are reset")
    func turns() async throws {
        let mocks = [MockLoader(), MockLoader(), MockLoader()]
        let loader = RoundRobinLoader(mocks.map { AnyLoader($0) })
        for mock in mocks { mock.then(times: 3, .status(.ok)) }
        for _ in 0..<7 { _ = await loader.load(try HTTPRequest("http://h/")) }
        #expect(mocks.map(\.requests.count).sorted() == [2, 2, 3])
        await loader.reset()
    }
}
