// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainSimulation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The time that the present thread has computed.
private func threadTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
}

@Suite("Storms that cannot be", .computing)
struct BadInputTests {
    typealias Seconds = Duration

    static func storm(
        clients: Int = 10,
        load: Storm.Load = .perSecond(50),
        server: Storm.Server = .collapse(),
        trigger: Storm.Trigger = .none
    ) throws -> Storm {
        try Storm(clients: clients, load: load, server: server, trigger: trigger, duration: .seconds(20))
    }

    @Test("R31: a trigger that is refused can be looked at before")
    func endlessTrigger() {
        let longest = Duration(attoseconds: .max)
        let trigger = Storm.Trigger.spike(at: longest, lasting: longest)
        #expect(trigger.end == longest)
        #expect(throws: InvalidArgument.self) { try Self.storm(trigger: trigger) }
    }

    @Test("zero clients, negative loads and other nonsense are refused with the argument's name")
    func refused() {
        func argument(_ body: () throws -> Storm) -> String? {
            do {
                _ = try body()
                return nil
            } catch {
                return (error as? InvalidArgument)?.argument
            }
        }
        #expect(argument { try Self.storm(clients: 0) } == "clients")
        #expect(argument { try Self.storm(load: .perSecond(-1)) } == "load")
        #expect(argument { try Self.storm(load: .perSecond(.nan)) } == "load")
        #expect(argument { try Self.storm(load: .closed(callers: 0, pause: .seconds(1))) } == "callers")
        #expect(argument { try Self.storm(load: .closed(pause: .zero)) } == "pause")
        #expect(argument { try Self.storm(server: .collapse(latency: .zero)) } == "latency")
        #expect(argument { try Self.storm(server: .queue(workers: 0, serviceTime: .seconds(1))) } == "workers")
        #expect(argument { try Self.storm(server: .rateLimited(perSecond: 0)) } == "perSecond")
        #expect(argument { try Self.storm(server: .script([])) } == "phases")
        #expect(argument { try Self.storm(trigger: .spike(-2, at: .zero, lasting: .seconds(1))) } == "spike")
        #expect(argument { try Self.storm(trigger: .packetLoss(1.5, at: .zero, lasting: .seconds(1))) } == "packetLoss")
        #expect(argument { try Self.storm(trigger: .spike(at: .seconds(99), lasting: .seconds(1))) } == "trigger")
        #expect(argument { try Self.storm(trigger: .outage(at: .seconds(-1), lasting: .seconds(1))) } == "at")
        let late = Storm.Trigger.spike(at: .seconds(1), lasting: .seconds(1))
            .and(.spike(at: .longestDelay, lasting: .seconds(1)))
        #expect(argument { try Self.storm(trigger: late) } == "at")
        #expect(argument { try Self.storm() } == nil)
    }

    @Test("numbers that are larger than a run can count are as good as never")
    func largest() async throws {
        let idle = try await Self.storm(load: .closed(pause: .longestDelay)).run(Policies.once)
        #expect(idle.calls == 0)
        let slow = Storm.Server.rateLimited(perSecond: 1e-30, burst: 1)
        let refused = try await Self.storm(server: slow).run(Policies.once)
        #expect(refused.successes == 1 && refused.refusals > 900)
        let cold = try Self.storm(trigger: .coldCache(2, entries: .max, at: .seconds(5)))
        _ = try await cold.smallestFatalTrigger(in: 1...1e300, steps: 1, Policies.once)
    }

    static func failure(_ body: () async throws -> Storm.Report) async -> Storm.Failure? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? Storm.Failure
        }
    }

    @Test("each failure says what to do about it")
    func advice() {
        let words: [(Storm.Failure, [String])] = [
            (.leftSimulation, ["`client.clocks`", "`client.server`", "no real clock, socket or thread"]),
            (.timeStandsStill(at: .seconds(3)), ["at 3.0 s", "blocks or loops without a wait", "`client.clocks`"]),
            (.tooManyCalls(7, at: .seconds(3)), ["7 calls", "without an end", "limit its attempts"]),
            (.needsMoreMemory(3 << 30, limit: 1 << 30), ["3072 MiB", "1024 MiB", "`memoryLimit`"]),
        ]
        for (failure, parts) in words {
            for part in parts { #expect("\(failure)".contains(part), "\(failure)") }
        }
    }

    @Test("attempts without a delay and without an end stand still, and are told so")
    func standsStill() async throws {
        let server = Storm.Server.collapse()
        let storm = try Self.storm(server: server)
        // The thread is left to itself with the loop, which would compute beside all other tests.
        let isOver = Locked(false)
        defer { isOver.withLock { $0 = true } }
        let failure = await Self.failure {
            try await storm.run { client in
                .calling {
                    try await withRetry(.immediately(maxAttempts: nil)) {
                        guard isOver.withLock({ $0 }) else { throw Storm.Failure.noThread }
                    }
                }
            }
        }
        guard case .timeStandsStill = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("a call that computes for seconds is told apart from one that waits")
    func busy() async throws {
        let isOver = Locked(false)
        defer { isOver.withLock { $0 = true } }
        let failure = await Self.failure {
            try await Self.storm().run { _ in
                .calling {
                    // In time of the thread: on a busy machine seconds of the wall are little work.
                    let begun = threadTime()
                    // No event: what is found is a call that computes.
                    while threadTime() - begun < .seconds(4), !isOver.withLock({ $0 }) {}
                }
            }
        }
        guard case .timeStandsStill = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("a call that sleeps on a real clock is found")
    func realClock() async throws {
        let failure = await Self.failure {
            // No event: what is found is the real sleep.
            try await Self.storm().run { _ in .calling { try await Task.sleep(for: .milliseconds(1)) } }
        }
        #expect(failure == .leftSimulation)
        let timer = await Self.failure {
            try await Self.storm().run { _ in
                .calling { try await TimerClock().sleep(until: TimerClock().now + .milliseconds(1)) }
            }
        }
        #expect(timer == .leftSimulation)
    }

    @Test("a policy without an end is stopped at the memory limit")
    func endless() async throws {
        var storm = try Self.storm(
            server: .script([.init(lasting: .seconds(1), latency: .milliseconds(10), failureRate: 1)])
        )
        storm.memoryLimit = 2 << 20
        let endless = Policies.retrying(.constant(delay: .seconds(1), maxAttempts: nil))
        let failure = await Self.failure { [storm] in
            var storm = storm
            storm.memoryLimit = 5 << 20
            return try await storm.run(endless)
        }
        guard case .tooManyCalls = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("a simulation that needs more memory than its limit is refused before it starts")
    func memory() async throws {
        let storm = try Self.storm(clients: 50_000_000, load: .perSecond(1e6))
        let failure = await Self.failure { try await storm.run(Policies.once) }
        guard case .needsMoreMemory(_, let limit) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(limit == 1 << 30)
    }

    @Test("what the closure throws is what the run throws")
    func thrown() async throws {
        await #expect(throws: InvalidArgument.self) {
            try await Self.storm().run { _ in throw InvalidArgument("policy", is: 1, expected: "2") }
        }
        await #expect(throws: InvalidArgument.self) { try await Self.storm().run(fleet: []) }
    }

    @Test("a cancelled run ends with a CancellationError")
    func cancelled() async throws {
        let task = Task {
            try await Storm(clients: 100, load: .perSecond(1000), server: .collapse(), duration: .seconds(86_400))
                .run(Policies.once)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }
}
