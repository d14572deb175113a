import RefrainCore
import RefrainSession
import RefrainTesting
import Testing

@Suite("On the wire: the offline retrier")
struct OfflineWireTests {
    @Test("A: OfflineRetrier: it waits for the network, at most 5 s unless told otherwise, and uses up no try")
    func returns() async throws {
        #expect(OfflineRetrier.defaultWait == .seconds(5))
        #expect(OfflineRetrier().maximumWait == .seconds(5))
        let gone = try FaultServer(mode: .refuse)
        let network = OfflineTests.SwitchedNetwork()
        let retrier = try OfflineRetrier(maximumWait: .seconds(5), monitor: network)
        // One try only: were the wait one, there would be none left.
        let policy = RetryPolicy.recommended.with(schedule: .never)
        let session = Session.overSockets(Interceptor(interceptors: [retrier, policy]))
        let request = session.request(gone.baseURL + "/ok")
        let task = request.serializingString()
        await network.asked.wait()
        #expect(network.limits == [.seconds(5)])
        // The host is there again, and then the network says so.
        let port = gone.port
        gone.stop()
        let server = try FaultServer(port: port)
        network.end(true)
        #expect(try await task.value == "ok\n")
        #expect(request.attempts.map(\.reason) == [.networkReturned, .succeeded])
        #expect(request.attempts.map(\.error) == [.cannotConnectToHost, nil])
        #expect(server.count(path: "/ok") == 1)
    }

    @Test("A: OfflineRetrier: where the network stays away the failure stands, and a status is none of its business")
    func staysAway() async throws {
        let gone = try FaultServer(mode: .refuse)
        let network = OfflineTests.SwitchedNetwork()
        let session = Session.overSockets(try OfflineRetrier(maximumWait: .seconds(1), monitor: network))
        let task = session.request(gone.baseURL + "/ok").serializingData()
        await network.asked.wait()
        network.end(false)
        #expect(await task.response.error?.transportCode == .cannotConnectToHost)
        let server = try FaultServer()
        server.answer("/down", 503)
        #expect(await session.request(server.baseURL + "/down").serializingString().response.value == "503")
        #expect(network.limits.count == 1)
        #expect(server.count(path: "/down") == 1)
    }
}
