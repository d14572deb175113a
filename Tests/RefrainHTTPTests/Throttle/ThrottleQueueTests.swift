// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("The queue of a throttle", .computing)
struct ThrottleQueueTests {
    /// The same rules, written the slow and plain way.
    private struct Model {
        var limit: Int
        var running = 0
        var line: [Int] = []

        mutating func admit() -> [Int] {
            var admitted: [Int] = []
            while running < limit, !line.isEmpty {
                admitted.append(line.removeFirst())
                running += 1
            }
            return admitted
        }
    }

    @Test("B: Throttle: in every order of events the queue admits the same waiters in the same order as a plain model")
    func model() {
        forEachSeed { random in
            var model = Model(limit: Int.random(in: 1...4, using: &random))
            var queue = ThrottleQueue<Int>(limit: model.limit)
            var numbers: [Int: UInt64] = [:]
            for name in 0..<Int.random(in: 1...60, using: &random) {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<5:
                    let runs = model.running < model.limit && model.line.isEmpty
                    model.line.append(name)
                    let admitted = model.admit()
                    switch queue.arrive(name) {
                    case .runs:
                        guard runs, admitted == [name] else { return false }
                    case .waits(let number):
                        guard !runs, admitted.isEmpty else { return false }
                        numbers[name] = number
                    }
                case 5, 6:
                    guard model.running > 0 else { continue }
                    model.running -= 1
                    guard queue.finish() == model.admit().first else { return false }
                case 7:
                    // Any earlier waiter, also one that has left the queue.
                    guard let leaver = numbers.keys.sorted().randomElement(using: &random) else { continue }
                    let stood = model.line.contains(leaver)
                    model.line.removeAll { $0 == leaver }
                    guard queue.leave(numbers[leaver] ?? 0) == (stood ? leaver : nil) else { return false }
                case 8:
                    model.limit = Int.random(in: 1...5, using: &random)
                    guard queue.setLimit(model.limit) == model.admit() else { return false }
                default:
                    let line = model.line
                    model.line = []
                    guard Bool.random(using: &random) || line.isEmpty else {
                        guard queue.removeAll() == line else { return false }
                        continue
                    }
                    model.line = line
                }
                guard queue.runningCount == model.running, queue.waitingCount == model.line.count else { return false }
                // No waiter is queued while a slot is free.
                guard queue.waitingCount == 0 || queue.runningCount >= queue.limit else { return false }
            }
            return true
        }
    }

    @Test("A hundred thousand waiters who leave from the middle cost no search")
    func massExodus() {
        var queue = ThrottleQueue<Int>(limit: 1)
        let arrivals = (-1..<100_000).map { queue.arrive($0) }
        #expect(arrivals[0] == .runs)
        let leavers = (UInt64(0)..<99_999).compactMap { queue.leave($0) }
        #expect(leavers == Array(0..<99_999))
        let (last, none) = (queue.finish(), queue.finish())
        #expect(last == 99_999)
        #expect(none == nil)
        let isFree = queue.takeFreeSlot()
        #expect(isFree)
    }
}
