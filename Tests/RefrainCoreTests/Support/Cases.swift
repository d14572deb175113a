// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import Testing

/// Runs a property on many seeded cases; a case that fails names its seed, with which it can be had again.
func forCases(
    _ count: Int = 10_000,
    seed base: UInt64 = 0x5EED,
    _ property: (UInt64, inout RandomSource) throws -> Bool
)
    rethrows
{
    for index in 0..<UInt64(count) {
        let seed = base &+ index
        var random = RandomSource(seed: seed)
        guard try property(seed, &random) else {
            Issue.record("the property fails with seed \(seed)")
            return
        }
    }
}

/// A failure that is worth another attempt.
struct Transient: Error, Equatable {
    var number = 0
}

/// A failure that is not.
struct Final: Error {}

/// A failure on which a loop further in has spent its attempts.
struct Spent: RetryTerminalError {
    var retriesAreExhausted: Bool { true }
}

/// The work was called off, which another error says than `CancellationError`.
struct CalledOff: RetryTerminalError {
    var retriesAreExhausted: Bool { false }
    var isCancellation: Bool { true }
}

/// A count that many tasks and threads share.
final class Counter: Sendable {
    private let count = Locked(0)

    /// Counts one, and answers with the count.
    @discardableResult
    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }

    var value: Int { count.withLock { $0 } }
}

/// Values that many tasks and threads add to.
final class Collected<Value: Sendable>: Sendable {
    private let contents = Locked<[Value]>([])

    func add(_ value: Value) { contents.withLock { $0.append(value) } }

    var values: [Value] { contents.withLock { $0 } }
}
