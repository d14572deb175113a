// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainSimulation
import TestSupport
import Testing

@Suite("The simulator against closed forms", .computing)
struct ClosedFormTests {
    @Test(
        "k retries at failure rate p: Σpⁱ sends a call, and 1 − pᵏ⁺¹ succeed",
        arguments: [(1, 0.5), (2, 0.3), (4, 0.7)]
    )
    func retries(count: Int, rate: Double) async throws {
        let storm = try Storm(
            clients: 50,
            load: .perSecond(100),
            server: .script([
                Storm.Server.Phase(
                    lasting: .seconds(1),
                    latency: .milliseconds(1),
                    failureRate: rate,
                    failureStatus: 500
                )
            ]),
            seed: 11
        )
        let schedule = Backoff.constant(delay: .milliseconds(1), maxAttempts: count + 1)
        let report = try await storm.run(Policies.retrying(schedule))
        let calls = Double(report.calls)
        // The chance of exactly `sends` sends, and from it their mean and variance.
        func power(_ exponent: Int) -> Double { (0..<exponent).reduce(1) { product, _ in product * rate } }
        let chances = (1...count + 1).map { sends in sends <= count ? power(sends - 1) * (1 - rate) : power(count) }
        let mean = (0...count).reduce(0) { $0 + power($1) }
        let square = chances.enumerated().reduce(0) { $0 + $1.element * Double(($1.offset + 1) * ($1.offset + 1)) }
        let deviation = ((square - mean * mean) / calls).squareRoot()
        #expect(abs(report.amplification - mean) < 3 * deviation)
        let success = 1 - power(count + 1)
        let successDeviation = (success * (1 - success) / calls).squareRoot()
        // One call may be under way when the storm ends.
        #expect(abs(report.goodShare - success) < 3 * successDeviation + 1 / calls)
    }

    @Test("M/M/1 and M/M/3: the mean time in the system", arguments: [(1, 100.0, 60.0), (1, 100, 85), (3, 40, 90)])
    func queue(workers: Int, serviceRate: Double, arrivalRate: Double) async throws {
        let storm = try Storm(
            clients: 1_000,
            load: .perSecond(arrivalRate),
            server: .queue(workers: workers, serviceTime: .seconds(1 / serviceRate), buffer: 1_000_000),
            duration: .seconds(50),
            timeout: .seconds(1_000),
            seed: 100
        )
        let means = try await storm.run(seeds: 12, Policies.once).map(\.meanLatency)
        let mean = means.reduce(0, +) / Double(means.count)
        let variance = means.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(means.count - 1)
        let deviation = (variance / Double(means.count)).squareRoot()
        let expected = Self.timeInSystem(Double(workers), serviceRate, arrivalRate)
        #expect(abs(mean - expected) < 3 * deviation, "\(mean) instead of \(expected), σ \(deviation)")
    }

    /// Erlang's C formula.
    static func timeInSystem(_ workers: Double, _ serviceRate: Double, _ arrivalRate: Double) -> Double {
        let load = arrivalRate / serviceRate
        var (term, sum) = (1.0, 0.0)
        for index in 0..<Int(workers) {
            sum += term
            term *= load / Double(index + 1)
        }
        let last = term * workers / (workers - load)
        let chanceToWait = last / (sum + last)
        return 1 / serviceRate + chanceToWait / (workers * serviceRate - arrivalRate)
    }

    @Test("a full queue turns away what Erlang's loss formula says")
    func loss() async throws {
        // M/M/1 with one place besides the worker: ρ²/(1 + ρ + ρ²) are turned away.
        let storm = try Storm(
            clients: 1_000,
            load: .perSecond(100),
            server: .queue(workers: 1, serviceTime: .milliseconds(10), buffer: 1),
            duration: .seconds(100),
            seed: 1_000
        )
        let failed = try await storm.run(seeds: 16, Policies.once).map { 1 - $0.goodShare }
        let mean = failed.reduce(0, +) / 16
        let variance = failed.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 15
        #expect(abs(mean - 1.0 / 3) < 3 * (variance / 16).squareRoot())
    }
}
