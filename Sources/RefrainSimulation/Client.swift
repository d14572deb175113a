// SPDX-License-Identifier: Apache-2.0
public import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Storm {
    /// The environment of one simulated client.
    public struct Client: Sendable {
        /// The client's number, from 0.
        public let index: Int
        /// The simulation's clocks: everything that waits must wait on them.
        public let clocks: RetryClocks
        /// The random numbers of all clients.
        public let random: RandomSource
        /// Where the pacers of all clients keep one limit together; ``pacer(_:profile:)`` does.
        public let quota: InMemoryQuotaStore
        /// The transport to the simulated server.
        public let server: any HTTPLoader
        /// A GET request to the simulated server.
        public let request: HTTPRequest

        /// The default retry budget, on the simulation's clock, for this client alone.
        public var budgets: Retry.Budgets {
            Retry.Budgets(all: .standard(clock: clocks.timer, random: random))
        }

        /// Makes a pacer on the simulation's clock; put it after the retry stage, or into a session.
        ///
        /// ```swift
        /// let limits = Pacer.Limits.perMinute(requests: 500)
        /// let storm = try Storm(
        ///     clients: 50, load: .perSecond(10), server: .modelAPI(limits)
        /// )
        /// let report = try await storm.run { client in
        ///     let retry = Retry(
        ///         .modelAPI(.openAI),
        ///         budgets: client.budgets,
        ///         clocks: client.clocks,
        ///         random: client.random
        ///     )
        ///     let pacer = client.pacer(limits, profile: .openAI)
        ///     return .chain(retry --> pacer --> client.server)
        /// }
        /// ```
        ///
        /// - Parameters:
        ///   - limits: what all clients together may send; they share ``quota``. Defaults to nothing: each client holds
        ///     back after refusals that name a time.
        ///   - profile: what the fields of answers mean. Defaults to nil: what HTTP says.
        public func pacer(_ limits: Pacer.Limits = .none, profile: ServerProfile? = nil) -> Pacer {
            Pacer(limits, profile: profile, quota: limits == .none ? nil : quota, clocks: clocks)
        }

        // Cannot fail: a constant.
        static let request = HTTPRequest(
            URL(string: "http://service.example/") ?? URL(filePath: "/")
        )
    }

    /// The call function of a simulated client.
    public struct Caller: Sendable {
        // Indirect: a client under way is one reference in the table of clients.
        indirect enum Kind: Sendable {
            case chain(any HTTPLoader, HTTPRequest)
            case closure(@Sendable () async throws -> Void)
        }

        let kind: Kind

        /// Loads a request through a chain; a status below 400 is a success.
        ///
        /// - Parameters:
        ///   - loader: a chain that ends in ``Client/server``.
        ///   - request: the request; nil: ``Client/request``.
        public static func chain(_ loader: any HTTPLoader, request: HTTPRequest? = nil) -> Caller {
            Caller(kind: .chain(loader, request ?? Client.request))
        }

        /// Calls a closure, such as one around a session or `withRetry`; to return is a success, to throw a failure.
        public static func calling(_ call: @escaping @Sendable () async throws -> Void) -> Caller {
            Caller(kind: .closure(call))
        }

        /// Makes a call.
        func outcome() async -> SimulatedOutcome {
            switch kind {
            case .chain(let loader, let request):
                switch await loader.load(request) {
                case .success(let response): return .status(response.status.rawValue)
                case .failure(let error): return .failure(error.code)
                }
            case .closure(let call):
                do {
                    try await call()
                    return .status(200)
                } catch {
                    return .failure((error as? HTTPError)?.code ?? .unknown)
                }
            }
        }
    }

    /// A part of the fleet with a policy of its own.
    public struct Group: Sendable {
        /// The name that reports show.
        public let name: String
        /// Its share of the clients, in proportion to the other groups'.
        public let share: Double
        let make: @Sendable (Client) throws -> Caller

        /// Describes a part of the fleet.
        public init(
            _ name: String,
            share: Double = 1,
            _ make: @escaping @Sendable (Client) throws -> Caller
        ) {
            self.name = name
            self.share = share
            self.make = make
        }
    }
}
