// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import TestSupport
import Testing

@Suite("The offline retrier", .timeLimit(.minutes(10)))
struct OfflineTests {
    /// A network that a test switches.
    final class SwitchedNetwork: OfflineRetrier.NetworkMonitor {
        private struct State {
            var isOnline = false
            var waiting: [@Sendable (Bool) -> Void] = []
            var limits: [Duration] = []
        }

        private let state = Locked(State())
        let asked = Signal()

        init(isOnline: Bool = false) { state.withLock { $0.isOnline = isOnline } }

        var isOnline: Bool { state.withLock { $0.isOnline } }
        var limits: [Duration] { state.withLock { $0.limits } }

        func whenOnline(within limit: Duration, _ completion: @escaping @Sendable (Bool) -> Void) {
            state.withLock { state in
                state.limits.append(limit)
                state.waiting.append(completion)
            }
            asked.set()
        }

        func end(_ isOnline: Bool) {
            let waiting = state.withLock { state in
                state.isOnline = isOnline
                defer { state.waiting = [] }
                return state.waiting
            }
            for completion in waiting { completion(isOnline) }
        }
    }

    private func session(_ loader: ScriptedLoader, _ network: SwitchedNetwork) throws -> Session {
        let retrier = OfflineRetrier(maximumWait: .seconds(5), monitor: network)
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 2))
        return Session.testing(loader, interceptor: Interceptor(interceptors: [retrier, policy]))
    }

    @Test("A: OfflineRetrier: the network's return is waited for, tried at once, and uses up no attempt")
    func returns() async throws {
        let network = SwitchedNetwork()
        // Of two attempts, one is left after the wait: the second failure is the policy's to retry.
        let loader = ScriptedLoader(
            .failure(.notConnectedToInternet),
            .failure(.networkConnectionLost),
            .status(200, body: "ok")
        )
        let session = try session(loader, network)
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingString()
        await network.asked.wait()
        #expect(loader.requests.count == 1)
        network.end(true)
        #expect(try await task.value == "ok")
        #expect(network.limits == [.seconds(5)])
        #expect(request.attempts.map(\.reason) == [.networkReturned, .transientFailure, .succeeded])
    }

    @Test("A: OfflineRetrier: a network that stays away leaves the decision to the next retrier")
    func staysAway() async throws {
        let network = SwitchedNetwork()
        let loader = ScriptedLoader(.failure(.cannotFindHost))
        let retrier = OfflineRetrier(maximumWait: .seconds(1), monitor: network)
        let session = Session.testing(loader, interceptor: retrier)
        let task = session.request(HTTPRequest.sample).serializingString()
        await network.asked.wait()
        network.end(false)
        #expect(await task.response.error?.transportCode == .cannotFindHost)
        #expect(loader.requests.count == 1)
    }

    @Test(
        "A: OfflineRetrier: nothing is waited for while the network is there, nor for failures that it does not explain"
    )
    func notAsked() async throws {
        let there = SwitchedNetwork(isOnline: true)
        _ = await (try session(ScriptedLoader(.failure(.cannotConnectToHost)), there))
            .request(HTTPRequest.sample).serializingData().response
        let missing = SwitchedNetwork()
        _ = await (try session(ScriptedLoader(.status(503)), missing))
            .request(HTTPRequest.sample).serializingData().response
        #expect(there.limits.isEmpty)
        #expect(missing.limits.isEmpty)
    }

    @Test("R9: a request that waits for the network can be cancelled")
    func cancelled() async throws {
        let network = SwitchedNetwork()
        let session = try session(ScriptedLoader(.failure(.notConnectedToInternet)), network)
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        await network.asked.wait()
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
    }

    @Test("A: OfflineRetrier: a negative wait counts as zero")
    func negativeWait() {
        #expect(OfflineRetrier(maximumWait: .seconds(-1)).maximumWait == .zero)
    }
}
