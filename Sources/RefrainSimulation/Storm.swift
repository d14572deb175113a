// SPDX-License-Identifier: Apache-2.0
public import RefrainCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A service under load, and its clients: the retry policy of production, run by thousands of clients in virtual time.
///
/// The closure makes what production makes, once for each client, with the clocks and the random source that it is
/// handed. Everything runs on one thread; the same seed gives the same report.
///
/// ```swift
/// let storm = try Storm(
///     clients: 1_000,
///     load: .perSecond(40),
///     server: .collapse(),
///     trigger: .spike(2, at: .seconds(30), lasting: .seconds(5)),
///     seed: 7
/// )
/// let report = try await storm.run { client in
///     .chain(
///         Retry(
///             .recommended,
///             budgets: client.budgets,
///             clocks: client.clocks,
///             random: client.random
///         )
///             --> client.server
///     )
/// }
/// #expect(report.amplification < 1.25)
/// ```
///
/// Whatever waits must wait on ``Client/clocks``. A call that reads a real socket or sleeps on a real clock ends the
/// run with ``Failure/leftSimulation``; one that blocks the thread ends it with ``Failure/timeStandsStill(at:)``.
public struct Storm: Sendable {
    /// The number of clients: processes that share nothing but the server.
    public let clients: Int
    /// The calls that they make.
    public let load: Load
    /// The server that the calls reach.
    public let server: Server
    /// The triggers of the service.
    public let trigger: Trigger
    /// The virtual time that is simulated.
    public let duration: Duration
    /// The longest time that a client waits for an answer, where its request sets none.
    public let timeout: Duration
    /// The seed of all random numbers.
    public var seed: UInt64
    /// The memory, in bytes, that a run may be expected to need.
    public var memoryLimit = 1 << 30

    /// Describes a storm.
    ///
    /// - Parameters:
    ///   - clients: the number of clients, 1 … 100,000,000. Those that make no call cost nothing.
    ///   - load: the calls that they make.
    ///   - server: the server that the calls reach.
    ///   - trigger: what hits the service. Defaults to nothing.
    ///   - duration: the virtual time that is simulated, up to a year. Defaults to two minutes.
    ///   - timeout: the longest time that a client waits for an answer. Defaults to 3 s.
    ///   - seed: the seed of all random numbers. Defaults to 1.
    /// - Throws: `InvalidArgument` for a value that makes no sense.
    public init(
        clients: Int,
        load: Load,
        server: Server,
        trigger: Trigger = .none,
        duration: Duration = .seconds(120),
        timeout: Duration = .seconds(3),
        seed: UInt64 = 1
    ) throws(InvalidArgument) {
        guard (1...100_000_000).contains(clients) else {
            throw InvalidArgument("clients", is: clients, expected: "a number from 1 to 100000000")
        }
        guard duration >= .seconds(1), duration <= .seconds(366 * 86_400) else {
            throw InvalidArgument("duration", is: duration, expected: "a duration from 1 second to 366 days")
        }
        guard timeout > .zero, timeout <= .seconds(86_400) else {
            throw InvalidArgument("timeout", is: timeout, expected: "a duration over zero, up to a day")
        }
        try load.check()
        try server.check()
        try trigger.check()
        if let start = trigger.start, start >= duration {
            throw InvalidArgument("trigger", is: start, expected: "a start before the storm's end, \(duration)")
        }
        self.clients = clients
        self.load = load
        self.server = server
        self.trigger = trigger
        self.duration = duration
        self.timeout = timeout
        self.seed = seed
    }

    /// The same storm with another number of clients.
    public func with(clients: Int) throws(InvalidArgument) -> Storm {
        var storm = try Storm(
            clients: clients,
            load: load,
            server: server,
            trigger: trigger,
            duration: duration,
            timeout: timeout,
            seed: seed
        )
        storm.memoryLimit = memoryLimit
        return storm
    }

    /// The same storm with another trigger.
    public func with(trigger: Trigger) throws(InvalidArgument) -> Storm {
        var storm = try Storm(
            clients: clients,
            load: load,
            server: server,
            trigger: trigger,
            duration: duration,
            timeout: timeout,
            seed: seed
        )
        storm.memoryLimit = memoryLimit
        return storm
    }

    /// The calls that clients make.
    public struct Load: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case open(perSecond: Double)
            case closed(callers: Int, pause: Double)
        }

        let kind: Kind

        /// Calls that come at random, independent of how those before them fare: a Poisson process over all clients.
        public static func perSecond(_ rate: Double) -> Load { Load(kind: .open(perSecond: rate)) }

        /// Each client has `callers` that make one call after the other, with a pause of `pause` on average between.
        public static func closed(callers: Int = 1, pause: Duration) -> Load {
            Load(kind: .closed(callers: callers, pause: pause.inSeconds))
        }

        func check() throws(InvalidArgument) {
            switch kind {
            case .open(let rate):
                guard rate > 0, rate <= 1e7 else {
                    throw InvalidArgument(
                        "load",
                        is: rate,
                        expected: "a number of calls per second over 0, up to 10000000"
                    )
                }
            case .closed(let callers, let pause):
                guard (1...1_000_000).contains(callers) else {
                    throw InvalidArgument("callers", is: callers, expected: "a number from 1 to 1000000")
                }
                guard pause > 0, pause.isFinite else {
                    throw InvalidArgument("pause", is: pause, expected: "a duration over zero")
                }
            }
        }
    }

    /// Why a simulation ended without a report.
    public enum Failure: Error, Sendable, Hashable {
        /// A call waited for something that is not simulated: a real clock, a socket, a thread.
        case leftSimulation
        /// A call ran for a second, or blocked the thread, while virtual time did not move.
        case timeStandsStill(at: Duration)
        /// More calls were under way at once than the memory limit allows.
        case tooManyCalls(Int, at: Duration)
        /// The run would need more memory than ``Storm/memoryLimit``, both in bytes.
        case needsMoreMemory(Int, limit: Int)
        /// The system made no thread for the simulation.
        case noThread
    }
}

extension Storm.Failure: LocalizedError, CustomStringConvertible {
    /// The cause, and what to do.
    public var description: String {
        switch self {
        case .leftSimulation:
            "a call waited for something outside of the simulation: hand `client.clocks` to everything that waits, "
                + "`client.server` as the loader, and use no real clock, socket or thread"
        case .timeStandsStill(let time):
            "virtual time stands still at \(time.inSeconds) s: a call blocks or loops without a wait; "
                + "wait on `client.clocks`, and give the schedule a delay or an end"
        case .tooManyCalls(let count, let time):
            "\(count) calls are under way at \(time.inSeconds) s, more than the memory limit allows: "
                + "a policy without an end keeps them all; limit its attempts or give it a deadline"
        case .needsMoreMemory(let bytes, let limit):
            "the simulation would need about \(bytes >> 20) MiB, more than the limit of \(limit >> 20) MiB: "
                + "simulate fewer clients or calls, or raise `memoryLimit`"
        case .noThread:
            "the system made no thread for the simulation"
        }
    }

    /// The ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
}

extension Storm {
    /// The memory that a call under way and a client that has made a call are reckoned with, in bytes.
    static let bytesPerCall = 9_000
    private static let bytesPerClient = 1_050

    /// Runs the storm with one policy.
    ///
    /// - Parameter make: makes what a client of production makes, once for each client that makes a call. It and all
    ///   that it makes run on the simulation's thread.
    /// - Returns: the report, the same for the same seed.
    /// - Throws: ``Failure``, what `make` threw, or `CancellationError`.
    public func run(_ make: @escaping @Sendable (Client) throws -> Caller) async throws -> Report {
        try await run(fleet: [Group("", make)])
    }

    /// Runs the storm with several policies in one fleet.
    ///
    /// - Parameter groups: the parts of the fleet, one or more.
    /// - Throws: ``Failure``, what a group threw, `InvalidArgument` for no groups or a share that is not positive, or
    ///   `CancellationError`.
    public func run(fleet groups: [Group]) async throws -> Report {
        guard !groups.isEmpty else { throw InvalidArgument("fleet", is: "empty", expected: "one group or more") }
        for group in groups where !(group.share > 0 && group.share.isFinite) {
            throw InvalidArgument("share", is: group.share, expected: "a number over zero")
        }
        let bytes = expectedMemory
        guard bytes <= memoryLimit else { throw Failure.needsMoreMemory(bytes, limit: memoryLimit) }
        return try await StormRun(self, groups).report()
    }

    /// The memory that a run is expected to need, in bytes.
    private var expectedMemory: Int {
        let clients = Double(clients)
        switch load.kind {
        case .open(let perSecond):
            let calls = perSecond * duration.inSeconds
            // The clients that make at least one call: N (1 − e⁻ˣ) with x calls for each, by a short series.
            let mean = min(calls / clients, 20)
            let active = clients * (1 - 1 / (1 + mean * (1 + mean / 2 * (1 + mean / 3))))
            let underWay = min(calls, perSecond * timeout.inSeconds * 3)
            return Int(min(active * Double(Self.bytesPerClient) + underWay * Double(Self.bytesPerCall), 1e18))
        case .closed(let callers, _):
            let all = clients * Double(callers)
            return Int(min(clients * Double(Self.bytesPerClient) + all * 100 + min(all, 1e6) * 1000, 1e18))
        }
    }

    /// Runs the storm with several seeds: those that follow ``seed``.
    ///
    /// - Throws: as ``run(_:)``.
    public func run(
        seeds count: Int,
        _ make: @escaping @Sendable (Client) throws -> Caller
    ) async throws -> [Report] {
        var reports: [Report] = []
        for offset in 0..<max(count, 0) {
            var storm = self
            storm.seed = seed &+ UInt64(offset)
            reports.append(try await storm.run(make))
        }
        return reports
    }

    /// Finds, by bisection, by which factor the trigger must last longer, or shorter, for the service not to recover.
    ///
    /// - Parameters:
    ///   - range: the factors that are tried. Defaults to a sixteenth up to four times.
    ///   - steps: how often the range is halved, 1 … 20. Defaults to 6.
    ///   - make: as in ``run(_:)``.
    /// - Returns: the smallest factor that was found not to recover; nil where even the largest does.
    /// - Throws: as ``run(_:)``.
    public func smallestFatalTrigger(
        in range: ClosedRange<Double> = 0.0625...4,
        steps: Int = 6,
        _ make: @escaping @Sendable (Client) throws -> Caller
    ) async throws -> Double? {
        var (low, high) = (range.lowerBound, range.upperBound)
        guard low > 0, high.isFinite else {
            throw InvalidArgument("range", is: "\(range)", expected: "factors over zero")
        }
        guard try await !scaledRun(high, make).hasRecovered else { return nil }
        guard try await scaledRun(low, make).hasRecovered else { return low }
        for _ in 0..<min(max(steps, 1), 20) {
            // The geometric mean, since the range spans magnitudes.
            let middle = (low * high).squareRoot()
            if try await scaledRun(middle, make).hasRecovered { low = middle } else { high = middle }
        }
        return high
    }

    private func scaledRun(
        _ factor: Double,
        _ make: @escaping @Sendable (Client) throws -> Caller
    ) async throws -> Report {
        try await with(trigger: trigger.scaled(by: factor)).run(make)
    }
}
