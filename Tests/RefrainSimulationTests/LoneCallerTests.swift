// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainSimulation
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the default budget leaves to a caller that is alone: the other side of ``CollapseTests``.
@Suite("A caller that is alone, in virtual time")
struct LoneCallerTests {
    /// Answers 503 to each path for a while after its first request, or nothing at all.
    private struct FailingAtFirst: HTTPLoader {
        let clocks: RetryClocks
        let time: Duration
        var hangs = false
        let began = Locked<[String: Duration]>([:])

        var keepsTimeouts: Bool { true }

        func load(_ request: HTTPRequest) async -> HTTPResult {
            let url = request.url.absoluteString
            try? await clocks.monotonic.sleep(for: .milliseconds(5))
            let first = began.withLock { began in
                began[url] = began[url] ?? clocks.now
                return began[url] ?? clocks.now
            }
            guard clocks.now - first < time else { return .success(HTTPResponse(request: request, status: 200)) }
            guard hangs else { return .success(HTTPResponse(request: request, status: 503)) }
            try? await clocks.monotonic.sleep(for: .seconds(1))
            return .failure(HTTPError(.timedOut, request: request, bytesSent: 100))
        }
    }

    /// Makes calls one after the other, and returns how many attempts each of them had, and whether it succeeded.
    private func calls(
        _ count: Int,
        _ policy: RetryPolicy,
        failingFor time: Duration,
        hangs: Bool = false,
        seed: UInt64 = 1
    ) async throws -> [(attempts: Int, isSuccess: Bool)] {
        let storm = try Storm(
            clients: 1,
            load: .perSecond(0.01),
            server: .collapse(),
            duration: .seconds(1_000),
            seed: seed
        )
        let results = Locked<[(attempts: Int, isSuccess: Bool)]>([])
        _ = try await storm.run { client in
            let server = FailingAtFirst(clocks: client.clocks, time: time, hangs: hangs)
            let retry = Retry(policy, budgets: client.budgets, clocks: client.clocks, random: client.random)
            return .calling {
                guard results.withLock({ $0.isEmpty }) else { return }
                for number in 0..<count {
                    let result = await (retry --> server).load(try HTTPRequest("http://service.example/\(number)"))
                    let isSuccess = if case .success(let response) = result { response.status == 200 } else { false }
                    results.withLock { $0.append((result.attempts.count, isSuccess)) }
                }
            }
        }
        return results.withLock { Array($0.prefix(count)) }
    }

    @Test("R22: a limit of 5 retries that the caller names is kept: 503 for 9 s has six sends, the last a success")
    func namedLimit() async throws {
        let calls = try await calls(1, RetryPolicy(retryLimit: 5), failingFor: .seconds(9))
        #expect(calls.map(\.attempts) == [6] && calls.allSatisfy(\.isSuccess))
    }

    @Test("R22: a limit of 2 that the caller names is kept for three requests to a server that hangs: 3, 3, 3")
    func hangs() async throws {
        let calls = try await calls(3, RetryPolicy(retryLimit: 2), failingFor: .seconds(900), hangs: true)
        #expect(calls.map(\.attempts) == [3, 3, 3])
    }

    @Test("R22: a server that hangs has one retry of a call whose limit nobody named, and less of the next ones")
    func unnamedLimit() async throws {
        let calls = try await calls(3, RetryPolicy(), failingFor: .seconds(900), hangs: true)
        #expect(calls.first?.attempts == 2 && calls.dropFirst().allSatisfy { $0.attempts <= 2 })
    }

    @Test("R32: of 20 calls in a row, each to a URL that answers 503 for 0.5 s, three quarters succeed")
    func manyInARow() async throws {
        var successes = 0
        for seed in 1...30 as ClosedRange<UInt64> {
            let calls = try await calls(20, .recommended, failingFor: .milliseconds(500), seed: seed)
            successes += calls.count(where: \.isSuccess)
        }
        #expect(successes > 30 * 14 && successes < 30 * 17, "\(Double(successes) / 30) of 20")
    }
}
