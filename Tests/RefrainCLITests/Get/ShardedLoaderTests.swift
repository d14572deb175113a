import RefrainHTTP
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("Transports among which URLs are distributed")
struct ShardedLoaderTests {
    private let mocks = [MockLoader(), MockLoader()]
    private let loader: ShardedLoader

    init() {
        loader = ShardedLoader(mocks.map { AnyLoader($0) })
        for mock in mocks { mock.otherwise(.status(.ok)) }
    }

    @Test("R33: all attempts of a request go by the same transport")
    func attempts() async throws {
        for _ in 0..<20 { _ = await loader.load(try HTTPRequest("http://h.example/a")) }
        #expect(mocks.map(\.requests.count).sorted() == [0, 20])
    }

    @Test("all transports have URLs, and all are reset")
    func distribution() async throws {
        // Each of 200 goes to either: that one has less than 40 is less probable than 10⁻¹⁷.
        for number in 0..<200 { _ = await loader.load(try HTTPRequest("http://h.example/\(number)")) }
        #expect(mocks.map(\.requests.count).reduce(0, +) == 200)
        #expect(mocks.allSatisfy { $0.requests.count >= 40 })
        await loader.reset()
        #expect(mocks.map(\.resets) == [1, 1])
    }
}
