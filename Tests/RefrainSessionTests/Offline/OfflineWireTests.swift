// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("On the wire: the offline retrier", .timeLimit(.minutes(10)))
struct OfflineWireTests {
    @Test("A: OfflineRetrier: it waits for the network, at most 5 s by default, and uses up no attempt")
    func returns() async throws {
        #expect(OfflineRetrier.defaultWait == .seconds(5))
        #expect(OfflineRetrier().maximumWait == .seconds(5))
        let (gone, server) = (try FaultServer(mode: .refuse), try FaultServer())
        server.on("/ok") { $0.occurrence == 1 ? [.reset] : [.respond(.ok)] }
        let network = OfflineTests.SwitchedNetwork()
        // Where the host is: nowhere, as long as the network is away.
        let base = Locked(gone.baseURL)
        let routing = Adapter { request, _ in
            var request = request
            request.url = try (base.withLock { $0 } + "/ok").asURL()
            return request
        }
        let retrier = OfflineRetrier(maximumWait: .seconds(5), monitor: network)
        // Two attempts: were the wait one, there would be none left for the connection that is lost after it.
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 2))
        let session = Session.overSockets(Interceptor(adapters: [routing], retriers: [retrier, policy]))
        let request = session.request(gone.baseURL + "/ok")
        let task = request.serializingString()
        await network.asked.wait()
        #expect(network.limits == [.seconds(5)])
        base.withLock { $0 = server.baseURL }
        network.end(true)
        #expect(try await task.value == "ok\n")
        #expect(request.attempts.map(\.reason) == [.networkReturned, .transientFailure, .succeeded])
        #expect(request.attempts.map(\.error) == [.cannotConnectToHost, .networkConnectionLost, nil])
        #expect(server.count(path: "/ok") == 2)
    }

    @Test("A: OfflineRetrier: where the network stays away the failure stands, and a status is none of its business")
    func staysAway() async throws {
        let gone = try FaultServer(mode: .refuse)
        let network = OfflineTests.SwitchedNetwork()
        let session = Session.overSockets(OfflineRetrier(maximumWait: .seconds(1), monitor: network))
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
