// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("On the wire: strategies", .timeLimit(.minutes(10)))
struct StrategyTests {
    let server: FaultServer
    let clock = TestClock(.autoAdvancing)

    init() throws { server = try FaultServer() }

    private func load(_ strategy: (any RetryStrategy)?, _ path: String) async throws -> HTTPResult {
        let chain = try Retry(strategy, budgets: nil, clocks: clock.retryClocks()) --> transport()
        return await chain.load(try HTTPRequest(server.baseURL + path))
    }

    private func answer(_ path: String, _ status: Int, _ headers: [(String, String)] = [], times: Int = .max) {
        server.on(path) { $0.occurrence > times ? [.respond(.ok)] : [.respond(.init(status, headers: headers))] }
    }

    /// Tries a 503 again, after a delay of one's own.
    private struct Fixed: HTTPRetryStrategy {
        var delay: Duration?
        func retryDelay(for result: HTTPResult) -> Duration? { (try? result.get().status) == 503 ? delay : nil }
    }

    /// The general form, which knows the attempt.
    private struct Counting: RetryStrategy {
        func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
            context.attempt.countedAttempts < 4 ? .retry(after: .seconds(context.attempt.countedAttempts)) : .finish()
        }
    }

    @Test("B: HTTPRetryStrategy: nil does not retry, zero and less retry at once, more waits; the attempt can count")
    func delays() async throws {
        answer("/down", 503)
        _ = try await load(Fixed(delay: nil), "/down")
        #expect(server.count(path: "/down") == 1)
        answer("/once", 503, times: 1)
        #expect(try await load(Fixed(delay: .zero), "/once").get().status == 200)
        answer("/again", 503, times: 1)
        #expect(try await load(Fixed(delay: .seconds(-9)), "/again").get().status == 200)
        #expect(clock.sleeps.isEmpty)
        answer("/later", 503, times: 1)
        #expect(try await load(Fixed(delay: .seconds(9)), "/later").get().attempts.count == 2)
        #expect(clock.sleeps == [.seconds(9)])
        #expect(try await load(Counting(), "/down").get().attempts.count == 4)
        #expect(clock.sleeps == [.seconds(9), .seconds(1), .seconds(2), .seconds(3)])
    }

    @Test("B: Backoff as a strategy: it retries failures and transient statuses, never a success")
    func backoff() async throws {
        let schedules: [(Backoff, [Duration])] = [
            (.immediately(maxAttempts: 3), []),
            (.constant(delay: .seconds(2), maxAttempts: 3), [.seconds(2), .seconds(2)]),
            (.exponential(delay: .seconds(2), maxAttempts: 3), [.seconds(2), .seconds(4)]),
        ]
        for (index, (schedule, waits)) in schedules.enumerated() {
            let before = clock.sleeps.count
            answer("/down\(index)", 503)
            #expect(try await load(schedule, "/down\(index)").get().attempts.count == 3)
            #expect(Array(clock.sleeps.dropFirst(before)) == waits)
            server.on("/lost\(index)") { $0.occurrence < 3 ? [.reset] : [.respond(.ok)] }
            let lost = try await load(schedule, "/lost\(index)").get()
            #expect(lost.attempts.map(\.error) == [.networkConnectionLost, .networkConnectionLost, nil])
            for status in [200, 204, 304, 404] {
                answer("/\(status)/\(index)", status)
                #expect(try await load(schedule, "/\(status)/\(index)").get().attempts.count == 1, "\(status)")
            }
        }
    }

    /// What one API says of itself: when its limit is over in `x-rate-limit-reset`, and how long it is in maintenance.
    private struct OneAPI: HTTPRetryStrategy {
        func retryDelay(for result: HTTPResult) -> Duration? {
            guard case .success(let response) = result else { return nil }
            switch response.status.rawValue {
            case 429: return response.headers["x-rate-limit-reset"].flatMap { Int64($0) }.map { .seconds($0) }
            case 503: return response.headers["retry-after"].flatMap { Int64($0) }.map { .seconds($0) }
            default: return nil
            }
        }
    }

    @Test("B: RetryAfterStrategy: what ten lines do for one API it does for all, and it falls back on a schedule")
    func serverDirected() async throws {
        for (index, strategy) in [OneAPI(), RetryAfterStrategy()].enumerated()
            as EnumeratedSequence<[any HTTPRetryStrategy]>
        {
            answer("/limit\(index)", 429, [("X-Rate-Limit-Reset", "20"), ("X-RateLimit-Reset", "20")], times: 1)
            #expect(try await load(strategy, "/limit\(index)").get().attempts.count == 2)
            #expect((clock.sleeps.last ?? .zero) >= .seconds(20))
            answer("/maintenance\(index)", 503, [("Retry-After", "7")], times: 1)
            #expect(try await load(strategy, "/maintenance\(index)").get().attempts.count == 2)
            #expect((clock.sleeps.last ?? .zero) >= .seconds(7))
            answer("/gone\(index)", 404, [("Retry-After", "7")])
            #expect(try await load(strategy, "/gone\(index)").get().attempts.count == 1)
        }
        answer("/silent", 503)
        let fallback = RetryAfterStrategy(fallback: .constant(delay: .seconds(3), maxAttempts: 2))
        #expect(try await load(fallback, "/silent").get().attempts.count == 2)
        #expect(clock.sleeps.last == .seconds(3))
        // The ten lines say nothing of it, and so end there.
        answer("/silent-too", 503)
        #expect(try await load(OneAPI(), "/silent-too").get().attempts.count == 1)
    }

    @Test("B: RetryOption: a chain of its own sends once; the request's strategy is asked before the stage's")
    func option() async throws {
        answer("/down", 503)
        #expect(try await load(nil, "/down").get().attempts.count == 1)
        let chain = try Retry(Counting(), budgets: nil, clocks: clock.retryClocks()) --> transport()
        var request = try HTTPRequest(server.baseURL + "/down")
        #expect(request.retryStrategy == nil)
        #expect(await chain.load(request).attempts.count == 4)
        request.retryStrategy = Backoff.immediately(maxAttempts: 2)
        #expect(await chain.load(request).attempts.count == 2)
        request.retryStrategy = Backoff.never
        #expect(await chain.load(request).attempts.count == 1)
    }

    @Test("B: HTTPRequestOption: an option of one's own reaches the stages, on each attempt, and never the wire")
    func ownOption() async throws {
        enum Priority: HTTPRequestOption { static let defaultValue = 0 }
        answer("/twice", 503, times: 1)
        let seen = Locked<[Int]>([])
        let look = ModifyRequest { request in
            seen.withLock { $0.append(request[option: Priority.self]) }
            return request
        }
        let chain = try Retry(quick(), budgets: nil) --> look --> transport()
        let plain = try HTTPRequest(server.baseURL + "/twice")
        var urgent = plain
        urgent[option: Priority.self] = 9
        _ = try await chain.response(for: urgent)
        _ = try await chain.response(for: plain)
        #expect(seen.withLock { $0 } == [9, 9, 0])
        #expect(server.log.first?.headers.count == server.log.last?.headers.count)
    }
}
