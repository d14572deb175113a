import CMeasure
import EngineOperations

/// What a retry wrapper costs for each call, where nothing fails and where one try does.
///
/// `RetryOverhead` measures all cases, `RetryOverhead CASE` one, and prints a line of JSON for each. With the counting
/// library loaded before it, it also says how often a call asked for memory, for the time and for random bytes.
@main
struct RetryOverhead {
    static func main() async throws {
        let names = CommandLine.arguments.dropFirst()
        for one in Case.allCases where names.isEmpty || names.contains(one.rawValue) {
            try await measure(one, step: CommandLine.arguments.count)
        }
    }

    @concurrent
    private static func measure(_ one: Case, step: Int) async throws {
        let operations = Operations(step: step)
        let operation = one.fails ? operations.failingOnce : operations.succeeding
        // Counting is slow, and exact: fewer calls do.
        let isCounting = bench_counts_now().mallocs >= 0
        let count = isCounting ? 20_000 : one.calls
        // Once unmeasured: code is paged in and the processor has left its idle state.
        var sum = try await one.run(count: count / 10, operation: operation)
        let before = bench_counts_now()
        let start = bench_now()
        sum &+= try await one.run(count: count, operation: operation)
        let nanoseconds = Double(bench_now() - start) / Double(count)
        let after = bench_counts_now()
        guard sum != 0 else { throw NothingRan() }
        var line = "{\"client\":\"\(one.rawValue)\""
        if isCounting {
            // Our own two readings of the clock are not the engine's.
            let clockReads = after.clock_reads - before.clock_reads - 2
            line += ",\"mallocsPerCall\":\(perCall(after.mallocs - before.mallocs, count))"
            line += ",\"clockReadsPerCall\":\(perCall(clockReads, count))"
            line += ",\"randomReadsPerCall\":\(perCall(after.random_reads - before.random_reads, count))"
        } else {
            line += ",\"nanosecondsPerCall\":\(nanoseconds)"
        }
        print(line + "}")
    }

    /// Rounded to a thousandth: what happens once in a process is nothing of a call.
    private static func perCall(_ total: Int64, _ count: Int) -> Double {
        (Double(total) * 1000 / Double(count)).rounded() / 1000
    }
}

struct NothingRan: Error {}
