/// What a retry wrapper costs where nothing fails, in nanoseconds for each call.
///
/// `RetryOverhead --list` names the cases; `RetryOverhead CASE` measures one and prints `CASE<tab>UNIT<tab>VALUE`.
@main
struct RetryOverhead {
    static let count = 2_000_000

    static func main() async throws {
        guard let argument = CommandLine.arguments.dropFirst().first, argument != "--list" else {
            for name in Case.allCases { print(name.rawValue) }
            return
        }
        guard let chosen = Case(rawValue: argument) else {
            throw UnknownCase(name: argument)
        }
        let operation = opaqueOperation(step: CommandLine.arguments.count)
        // Once unmeasured: code is paged in and the processor has left its idle state.
        var sum = try await chosen.run(count: count / 10, operation: operation)
        let clock = ContinuousClock()
        let start = clock.now
        sum &+= try await chosen.run(count: count, operation: operation)
        let elapsed = start.duration(to: clock.now)
        guard sum != 0 else { throw NothingRan() }
        let tenths = Int(elapsed / .nanoseconds(1) * 10) / count
        print("\(chosen.rawValue)\tns/call\t\(tenths / 10).\(tenths % 10)")
    }

    /// A closure that the optimizer cannot look into: its value is only known while the program runs.
    @inline(never)
    private static func opaqueOperation(step: Int) -> () async throws -> Int {
        { step }
    }
}

struct UnknownCase: Error {
    let name: String
}

struct NothingRan: Error {}
