// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainSimulation

/// The clients of the tests, as a user would write them.
enum Policies {
    typealias Make = @Sendable (Storm.Client) throws -> Storm.Caller

    /// Sends each request once.
    static let once: Make = { .chain($0.server) }

    /// A chain with a schedule, and a budget or none.
    static func retrying(
        _ schedule: Backoff,
        budget: (@Sendable (any Clock<Duration>) -> RetryBudget)? = nil
    ) -> Make {
        { client in
            let budgets = budget.map { make in
                let made = make(client.clocks.monotonic)
                return Retry.Budgets { _ in made }
            }
            let retry = Retry(
                RetryPolicy.recommended.with(schedule: schedule),
                budgets: budgets,
                clocks: client.clocks,
                random: client.random
            )
            return .chain(retry --> client.server)
        }
    }

    /// Three attempts without a delay, without a budget.
    static let hasty = retrying(.immediately(maxAttempts: 3))
}

extension Storm.Report {
    /// The mean time of the calls that ended, in seconds.
    var meanLatency: Double {
        let ended = zip(series.good, series.failed).map(+)
        let sum = zip(series.latency, ended).reduce(0) { $0 + $1.0 * Double($1.1) }
        return sum / Double(max(1, ended.reduce(0, +)))
    }
}
