// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
public import RefrainHTTP

extension Storm {
    /// The server that a storm's calls reach: the time of a request, and the handling of excess requests.
    public struct Server: Sendable {
        indirect enum Kind: Sendable {
            case collapse(latency: Double, perRequest: Double, dropsAbandoned: Bool)
            case queue(workers: Int, serviceTime: Double, buffer: Int, dropsAbandoned: Bool)
            case rateLimited(perSecond: Double, burst: Double, latency: Double, RateLimitHints)
            case modelAPI(Pacer.Limits, latency: Double)
            case capacity(perSecond: Double, buffer: Int, [CapacityStep])
            case script([Phase])
        }

        /// The fields of a rate-limited server's 429.
        public enum RateLimitHints: String, Sendable, Hashable, CaseIterable {
            /// Nothing but the status.
            case none
            /// `Retry-After` in seconds.
            case retryAfter = "retry-after"
            /// `RateLimit` and `RateLimit-Policy`.
            case rateLimit = "rate-limit"
        }

        /// A point of time and the share of the capacity that a server has then; between two it changes evenly.
        public struct CapacityStep: Sendable, Hashable {
            /// The time since the storm's beginning.
            public let at: Duration
            /// The share of the capacity, 0 … 10.
            public let share: Double

            /// Describes a point.
            public init(at: Duration, share: Double) {
                self.at = at
                self.share = share
            }
        }

        /// A stretch of time with the same behaviour.
        public struct Phase: Sendable, Hashable {
            /// How long it lasts.
            public let duration: Duration
            /// The time to an answer.
            public let latency: Duration
            /// The share of requests that fail, 0 … 1.
            public let failureRate: Double
            /// The status of those that fail.
            public let failureStatus: Int

            /// Describes a phase; by default nothing fails, and failures are answered with 503.
            public init(
                lasting duration: Duration,
                latency: Duration,
                failureRate: Double = 0,
                failureStatus: Int = 503
            ) {
                self.duration = duration
                self.latency = latency
                self.failureRate = failureRate
                self.failureStatus = failureStatus
            }
        }

        var kind: Kind
        /// The server that this one calls for each request, and how it makes that call.
        var backend: Backend?

        final class Backend: Sendable {
            let server: Server
            let make: @Sendable (Client) throws -> Caller

            init(_ server: Server, _ make: @escaping @Sendable (Client) throws -> Caller) {
                self.server = server
                self.make = make
            }
        }

        /// A server whose latency is `latency`, and `perRequest` more for each request that it works on already.
        ///
        /// - Parameters:
        ///   - latency: the time of a request that has the server for itself. Defaults to 1 s.
        ///   - perRequest: what each request under way adds. Defaults to 10 ms.
        ///   - dropsAbandoned: whether work on a request ends when its client leaves. False by default, since a server
        ///     seldom notices.
        public static func collapse(
            latency: Duration = .seconds(1),
            perRequest: Duration = .milliseconds(10),
            dropsAbandoned: Bool = false
        ) -> Server {
            let (latency, perRequest) = (latency.inSeconds, perRequest.inSeconds)
            return Server(
                kind: .collapse(latency: latency, perRequest: perRequest, dropsAbandoned: dropsAbandoned)
            )
        }

        /// Workers with exponential service times, and a bounded queue before them (M/M/c/K).
        ///
        /// - Parameters:
        ///   - workers: how many requests are served at the same time.
        ///   - serviceTime: the mean time that one takes.
        ///   - buffer: how many may wait; further ones are answered with 503.
        ///   - dropsAbandoned: whether a request whose client has left is not served. False by default, since a server
        ///     seldom notices.
        public static func queue(
            workers: Int,
            serviceTime: Duration,
            buffer: Int = 1000,
            dropsAbandoned: Bool = false
        ) -> Server {
            let time = serviceTime.inSeconds
            return Server(
                kind: .queue(workers: workers, serviceTime: time, buffer: buffer, dropsAbandoned: dropsAbandoned)
            )
        }

        /// A server that allows `perSecond` requests, with bursts, and answers the others with 429.
        public static func rateLimited(
            perSecond: Double,
            burst: Int = 10,
            latency: Duration = .milliseconds(50),
            hints: RateLimitHints = .retryAfter
        ) -> Server {
            let seconds = latency.inSeconds
            return Server(kind: .rateLimited(perSecond: perSecond, burst: Double(burst), latency: seconds, hints))
        }

        /// A model API that allows requests and tokens in a span of time, and answers what is beyond with 429.
        ///
        /// Its answers have the fields that OpenAI's have: `x-ratelimit-…` for requests and tokens, and on a refusal
        /// `retry-after-ms` and `Retry-After`. The limits are enforced in short spans, a twentieth at a time.
        ///
        /// - Parameters:
        ///   - limits: the requests and the tokens that are allowed. A request takes its `cost` in tokens; where that
        ///     is 0, what its body of JSON says: a quarter of its length, and between a half and all of `max_tokens`.
        ///   - latency: the time of an answer.
        public static func modelAPI(_ limits: Pacer.Limits, latency: Duration = .milliseconds(500)) -> Server {
            let seconds = latency.inSeconds
            return Server(kind: .modelAPI(limits, latency: seconds))
        }

        /// A server that serves `perSecond` requests one by one, with a capacity that drops and recovers.
        ///
        /// - Parameters:
        ///   - perSecond: the requests per second at the full capacity.
        ///   - buffer: how many may wait; further ones are answered with 503.
        ///   - steps: points of time with the share of the capacity, in order. Before the first it is 1.
        public static func capacity(perSecond: Double, buffer: Int = 1000, steps: [CapacityStep]) -> Server {
            Server(kind: .capacity(perSecond: perSecond, buffer: buffer, steps))
        }

        /// A server that follows a list of phases, whatever its load; the last phase has no end.
        public static func script(_ phases: [Phase]) -> Server { Server(kind: .script(phases)) }

        /// This server, which for each request that it has served calls another one before it answers.
        ///
        /// A failure of that call is answered with 502, one that ran out of time with 504. The call ends when its own
        /// client leaves. Triggers that concern a server happen to the last one.
        ///
        /// - Parameters:
        ///   - backend: the other server.
        ///   - make: makes what calls it, once, as a storm's clients are made.
        public func calling(
            _ backend: Server,
            _ make: @escaping @Sendable (Client) throws -> Caller
        ) -> Server {
            var copy = self
            copy.backend = Backend(backend, make)
            return copy
        }
    }
}

extension Storm.Server {
    /// Refuses what makes no sense.
    func check() throws(InvalidArgument) {
        func positive(_ name: String, _ value: Double) throws(InvalidArgument) {
            guard value > 0, value.isFinite else { throw InvalidArgument(name, is: value, expected: "more than zero") }
        }
        func notNegative(_ name: String, _ value: Double) throws(InvalidArgument) {
            guard value >= 0, value.isFinite else { throw InvalidArgument(name, is: value, expected: "zero or more") }
        }
        switch kind {
        case .collapse(let latency, let perRequest, _):
            try positive("latency", latency)
            try notNegative("perRequest", perRequest)
        case .queue(let workers, let serviceTime, let buffer, _):
            try positive("workers", Double(workers))
            try positive("serviceTime", serviceTime)
            try notNegative("buffer", Double(buffer))
        case .rateLimited(let perSecond, let burst, let latency, _):
            try positive("perSecond", perSecond)
            try positive("burst", burst)
            try positive("latency", latency)
        case .modelAPI(let limits, let latency):
            guard limits.requests != nil || limits.cost != nil else {
                throw InvalidArgument("limits", is: "none", expected: "one limit or more")
            }
            for limit in [limits.requests, limits.cost].compactMap(\.self) where !(1...1e12).contains(limit) {
                throw InvalidArgument("limit", is: limit, expected: "a number from 1 to 1000000000000")
            }
            guard limits.interval <= .seconds(86_400) else {
                throw InvalidArgument("interval", is: limits.interval, expected: "a duration up to a day")
            }
            try positive("latency", latency)
        case .capacity(let perSecond, let buffer, let steps):
            try positive("perSecond", perSecond)
            try notNegative("buffer", Double(buffer))
            for (index, step) in steps.enumerated() {
                guard (0...10).contains(step.share) else {
                    throw InvalidArgument("share", is: step.share, expected: "a number from 0 to 10")
                }
                try notNegative("at", step.at.inSeconds)
                guard index == 0 || steps[index - 1].at <= step.at else {
                    throw InvalidArgument("at", is: step.at, expected: "no earlier than that of the step before")
                }
            }
        case .script(let phases):
            guard !phases.isEmpty else { throw InvalidArgument("phases", is: "empty", expected: "one phase or more") }
            for phase in phases {
                try positive("duration", phase.duration.inSeconds)
                try positive("latency", phase.latency.inSeconds)
                guard (0...1).contains(phase.failureRate) else {
                    throw InvalidArgument("failureRate", is: phase.failureRate, expected: "a number from 0 to 1")
                }
                guard (400...599).contains(phase.failureStatus) else {
                    throw InvalidArgument(
                        "failureStatus",
                        is: phase.failureStatus,
                        expected: "a status from 400 to 599"
                    )
                }
            }
        }
        try backend?.server.check()
    }

    /// The number of tiers; 1 if this server calls no other.
    var depth: Int { 1 + (backend?.server.depth ?? 0) }

    func model(_ context: ServerContext) -> any ServerModel {
        switch kind {
        case .collapse(let latency, let perRequest, let dropsAbandoned):
            return CollapseModel(
                context,
                latency: latency,
                latencyPerRequest: perRequest,
                dropsAbandoned: dropsAbandoned
            )
        case .queue(let workers, let serviceTime, let buffer, let dropsAbandoned):
            return QueueModel(
                context,
                workers: workers,
                serviceTime: serviceTime,
                buffer: buffer,
                dropsAbandoned: dropsAbandoned
            )
        case .rateLimited(let perSecond, let burst, let latency, let hints):
            return TokenModel(context, rate: perSecond, burst: burst, latency: latency, hints: hints)
        case .modelAPI(let limits, let latency):
            return ModelAPIModel(context, limits: limits, latency: latency)
        case .capacity(let perSecond, let buffer, let steps):
            return QueueModel(
                context,
                workers: 1,
                serviceTime: 1 / perSecond,
                buffer: buffer,
                dropsAbandoned: false,
                capacity: { Self.share(at: $0, steps) }
            )
        case .script(let phases):
            return ScriptModel(context, phases: phases)
        }
    }

    /// The share of the capacity at a time, in seconds.
    static func share(at time: Double, _ steps: [CapacityStep]) -> Double {
        var (previousTime, previousShare) = (0.0, 1.0)
        for step in steps {
            let next = step.at.inSeconds
            if time < next {
                let part = (time - previousTime) / (next - previousTime)
                return previousShare + (step.share - previousShare) * part
            }
            (previousTime, previousShare) = (next, step.share)
        }
        return previousShare
    }
}
