// SPDX-License-Identifier: Apache-2.0
import CMeasure
import EngineOperations

/// The cost of a retry wrapper per call, without a failure and with one failed attempt.
///
/// `RetryOverhead` measures all cases, `RetryOverhead CASE` one, and prints a line of JSON for each. With the counting
/// library loaded before it, it also says how often a call asked for memory, for the time and for random bytes.
@main
struct RetryOverhead {
    /// How often each case has its turn: what disturbs one turn disturbs no median.
    private static let turns = 21

    static func main() async throws {
        let names = CommandLine.arguments.dropFirst()
        let cases = Case.allCases.filter { names.isEmpty || names.contains($0.rawValue) }
        // The value is only known while the program runs.
        let operations = Operations(step: CommandLine.arguments.count)
        if bench_counts_now().mallocs >= 0 {
            for one in cases { try await count(one, operations) }
        } else {
            try await time(cases, operations)
        }
    }

    @concurrent
    private static func time(_ cases: [Case], _ operations: Operations) async throws {
        var samples: [Case: [Int64]] = [:]
        // The first turn is not measured: code is paged in and the processor leaves its idle state.
        for turn in 0...turns {
            for one in cases {
                let start = bench_now()
                try await run(one, operations, count: one.calls)
                if turn > 0 { samples[one, default: []].append(bench_now() - start) }
            }
        }
        for one in cases {
            var times = samples[one] ?? []
            let median = bench_percentile(&times, Int64(times.count), 0.5)
            print("{\"client\":\"\(one.rawValue)\",\"nanosecondsPerCall\":\(Double(median) / Double(one.calls))}")
        }
    }

    @concurrent
    private static func count(_ one: Case, _ operations: Operations) async throws {
        let calls = 20_000
        try await run(one, operations, count: 1000)
        let before = bench_counts_now()
        try await run(one, operations, count: calls)
        let after = bench_counts_now()
        func perCall(_ count: KeyPath<bench_counts, Int64>) -> Double {
            // In hundredths: what happens once in a process is nothing of a call.
            (Double(after[keyPath: count] - before[keyPath: count]) * 100 / Double(calls)).rounded() / 100
        }
        print(
            "{\"client\":\"\(one.rawValue)\",\"mallocsPerCall\":\(perCall(\.mallocs))"
                + ",\"clockReadsPerCall\":\(perCall(\.clock_reads)),\"randomReadsPerCall\":\(perCall(\.random_reads))}"
        )
    }

    private static func run(_ one: Case, _ operations: Operations, count: Int) async throws {
        let operation = one.fails ? operations.failingOnce : operations.succeeding
        guard try await one.run(count: count, operation: operation) != 0 else { throw NothingRan() }
    }
}

struct NothingRan: Error {}
