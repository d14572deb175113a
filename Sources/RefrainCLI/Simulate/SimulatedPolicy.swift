// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainSimulation

/// A policy whose clients a simulation runs.
struct SimulatedPolicy: Sendable {
    let name: String
    /// Makes a client that sends by a loader: its server, or a stage in front of it.
    let make: @Sendable (Storm.Client, any HTTPLoader) -> Storm.Caller

    /// The policies that have a name.
    enum Name: String, Sendable, CaseIterable {
        case recommended
        case perProcess = "per-process"
        case fleet
        case none
        case immediate
        case alamofire
        case curl
        case aws2026
        case grpc
    }

    /// A budget for each client.
    typealias Budget = @Sendable (any Clock<Duration>, RandomSource) -> RetryBudget?

    /// What a policy without a name is made of.
    init(_ name: String, _ policy: RetryPolicy, budget: @escaping Budget) {
        // Boxed once, and not for each client.
        let strategy: any RetryStrategy = policy
        self.init(name) { client, loader in
            let budgets = budget(client.clocks.monotonic, client.random).map(Retry.Budgets.init(all:))
            return .chain(Retry(strategy, budgets: budgets, clocks: client.clocks, random: client.random) --> loader)
        }
    }

    private init(_ name: String, make: @escaping @Sendable (Storm.Client, any HTTPLoader) -> Storm.Caller) {
        // It comes from a file, and goes into tables and pictures.
        self.name = Sanitized.line(name)
        self.make = make
    }

    static func named(_ name: Name) -> SimulatedPolicy {
        let recommended = RetryPolicy.recommended
        func policy(_ policy: RetryPolicy, _ budget: @escaping Budget) -> SimulatedPolicy {
            SimulatedPolicy(name.rawValue, policy, budget: budget)
        }
        switch name {
        case .recommended: return policy(recommended) { .standard(clock: $0, random: $1) }
        case .perProcess: return policy(recommended) { clock, _ in RetryBudget(clock: clock) }
        case .fleet: return policy(recommended) { .fleet(clock: $0, random: $1) }
        case .none: return SimulatedPolicy(name.rawValue) { _, loader in .chain(loader) }
        case .immediate: return policy(recommended.with(schedule: .immediately(maxAttempts: 3))) { _, _ in nil }
        case .alamofire: return policy(RetryPolicy()) { _, _ in nil }
        case .curl:
            // --retry 3: 1 s, doubled each time up to ten minutes.
            let schedule = Backoff.exponential(from: .seconds(1), maxAttempts: 4).capped(at: .seconds(600))
            return policy(recommended.with(schedule: schedule)) { _, _ in nil }
        case .aws2026:
            // The SDKs' standard mode of 2026: 50 ms, doubled up to 20 s, full jitter; 500 tokens, 14 a retry, 5 where
            // the server throttles.
            let schedule = Backoff.exponential(from: .milliseconds(50), maxAttempts: 3)
                .capped(at: .seconds(20)).jittered(.full)
            let costs = RetryBudget.Costs(transient: 14, timeout: 14, throttled: 5)
            return policy(recommended.with(schedule: schedule)) { _, _ in
                .tokens(capacity: 500, costs: costs, refund: 1)
            }
        case .grpc:
            return SimulatedPolicy(name.rawValue) { client, loader in
                // The throttle keeps the count; a budget would keep a second one.
                let retry = Retry(
                    GRPCThrottle(random: client.random),
                    budgets: nil,
                    clocks: client.clocks,
                    random: client.random
                )
                return .chain(retry --> loader)
            }
        }
    }
}

/// What stands in front of the server in each client: `--pace` and `--cost`.
struct SimulatedSending: Sendable {
    /// What all clients together may send; nil: no pacer.
    var pace: Pacer.Limits?
    /// The tokens that a request takes.
    var cost = 0.0

    func loader(of client: Storm.Client) -> any HTTPLoader {
        var loader = client.server
        if let pace { loader = client.pacer(pace) --> loader }
        guard cost > 0 else { return loader }
        let setsCost = ModifyRequest(clocks: client.clocks) { [cost] request in
            var request = request
            request.cost = cost
            return request
        }
        return setsCost --> loader
    }
}

/// The retry throttling of gRPC's service config: 10 tokens, a failure takes one, a success brings a tenth back, and
/// retries need more than half of the tokens (gRPC proposal A6).
private struct GRPCThrottle: HTTPRetryStrategy {
    private let tokens = Locked(10.0)
    private let random: RandomSource
    private let schedule = Backoff.exponential(from: .milliseconds(100), maxAttempts: 4).capped(at: .seconds(1))
        .jittered(.full)

    init(random: RandomSource) { self.random = random }

    func retryDelay(for result: HTTPResult) -> Duration? { retryDelay(for: result, attempt: .first) }

    func retryDelay(for result: HTTPResult, attempt: Attempt) -> Duration? {
        if case .success(let response) = result, response.status.rawValue < 400 {
            tokens.withLock { $0 = min(10, $0 + 0.1) }
            return nil
        }
        let mayRetry = tokens.withLock { tokens in
            tokens = max(0, tokens - 1)
            return tokens > 5
        }
        return mayRetry ? schedule.delay(after: attempt, using: random) : nil
    }
}
