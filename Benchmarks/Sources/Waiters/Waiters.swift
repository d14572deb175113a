// SPDX-License-Identifier: Apache-2.0
import CMeasure
import FoundationEssentials
import Refrain

/// A hundred thousand waiters: the memory of each, the delay of its wakeup, and the time to cancel all of them.
///
/// `Waiters KIND COUNT` prints a line of JSON. All fail at the first attempt and wait for the second. First all of
/// them wait for half a minute, none of which runs to its end: their memory is measured, then they are cancelled. Then
/// all wait for a second, and the second attempt says how late it came.
@main
struct Waiters {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let kind = Kind(rawValue: arguments[1]), let count = Int(arguments[2]), count > 0
        else {
            print("usage: Waiters \(Kind.allCases.map(\.rawValue).joined(separator: "|")) COUNT")
            return
        }
        try await measure(kind, count: count)
    }

    @concurrent
    private static func measure(_ kind: Kind, count: Int) async throws {
        let board = Board(count: count)
        var tasks: [Task<Void, Never>] = []
        tasks.reserveCapacity(count)
        // A few first, so that threads and shared values are there already.
        let first = try kind.wait(for: .milliseconds(10), board)
        for _ in 0..<100 { tasks.append(Task { await first(0) }) }
        for task in tasks { await task.value }
        tasks.removeAll(keepingCapacity: true)
        board.clear()

        let before = bench_usage_now()
        let long = try kind.wait(for: .seconds(30), board)
        for index in 0..<count { tasks.append(Task { await long(index) }) }
        while board.waiting < count { try await Task.sleep(for: .milliseconds(10)) }
        // The last ones have said that they will wait, and do so now.
        try await Task.sleep(for: .milliseconds(100))
        let during = bench_usage_now()

        let cancelled = bench_now()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        let milliseconds = Double(bench_now() - cancelled) / 1e6
        tasks.removeAll(keepingCapacity: true)
        let wrongEnds = board.woken
        board.clear()

        let short = try kind.wait(for: .seconds(1), board)
        for index in 0..<count { tasks.append(Task { await short(index) }) }
        for task in tasks { await task.value }
        let bytes = Double(during.resident_bytes - before.resident_bytes) / Double(count)
        let missing = count - board.woken
        print(
            "{\"client\":\"\(kind.rawValue)\",\"bytesEach\":\(bytes),\"cancelMilliseconds\":\(milliseconds)"
                + ",\"lateP50Milliseconds\":\(board.lateness(0.5, beyond: .seconds(1)))"
                + ",\"lateP99Milliseconds\":\(board.lateness(0.99, beyond: .seconds(1)))"
                + ",\"failures\":\(missing + wrongEnds)}"
        )
    }
}
