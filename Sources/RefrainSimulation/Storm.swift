public import RefrainCore

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
///         Retry(.recommended, budgets: client.budgets, clocks: client.clocks, random: client.random)
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

extension Storm.Failure: CustomStringConvertible {
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
}
