// SPDX-License-Identifier: Apache-2.0
import CMeasure
import Synchronization

/// Where the waiters write down when they began to wait and when they woke; its memory is touched before they start.
final class Board: @unchecked Sendable {
    // @unchecked Sendable: each waiter writes only its own place; the counts are atomic.
    private let began: UnsafeMutablePointer<Int64>
    private let woke: UnsafeMutablePointer<Int64>
    private let count: Int
    private let waitingCount = Atomic(0)
    private let wokenCount = Atomic(0)

    init(count: Int) {
        self.count = count
        began = .allocate(capacity: count)
        woke = .allocate(capacity: count)
        clear()
    }

    deinit {
        began.deallocate()
        woke.deallocate()
    }

    var waiting: Int { waitingCount.load(ordering: .relaxed) }
    var woken: Int { wokenCount.load(ordering: .relaxed) }

    func clear() {
        began.initialize(repeating: 0, count: count)
        woke.initialize(repeating: 0, count: count)
        waitingCount.store(0, ordering: .relaxed)
        wokenCount.store(0, ordering: .relaxed)
    }

    func hasBegun(_ index: Int) -> Bool { began[index] > 0 }

    func begins(_ index: Int) {
        began[index] = bench_now()
        waitingCount.add(1, ordering: .relaxed)
    }

    func wakes(_ index: Int) {
        woke[index] = bench_now()
        wokenCount.add(1, ordering: .relaxed)
    }

    /// How late so many of them were at most, in milliseconds.
    func lateness(_ share: Double, beyond delay: Duration) -> Double {
        let due = delay / .nanoseconds(1)
        var late = (0..<count).filter { woke[$0] > 0 }.map { woke[$0] - began[$0] - Int64(due) }
        return Double(bench_percentile(&late, Int64(late.count), share)) / 1e6
    }
}
