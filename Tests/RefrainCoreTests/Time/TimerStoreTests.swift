// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RefrainCore

@Suite("TimerStore", .computing)
struct TimerStoreTests {
    private struct Timer {
        let name: Int
        let due: Int64
        let token: CancellationToken?
        let id: TimerID
    }

    @Test("it agrees with a plain list over 10,000 random operations: each timer is removed once, in order of time")
    func againstModel() {
        var random = RandomSource(seed: 0x7AB1E)
        var store = TimerStore<Int>()
        var pending: [Timer] = []
        var gone: [Timer] = []
        let tokens: [CancellationToken?] = (0..<4).map { _ in CancellationToken() } + [nil]
        var now: Int64 = 0
        var name = 0
        for step in 0..<10_000 {
            switch Int.random(in: 0...19, using: &random) {
            case 0...9:
                // Few different times, so that equal ones are common.
                let due = now + Int64.random(in: -5...400, using: &random)
                let token = tokens.randomElement(using: &random) ?? nil
                let id = store.insert(name, due: due, token: token)
                pending.append(Timer(name: name, due: due, token: token, id: id))
                name += 1
            case 10...14:
                for _ in 0..<(step.isMultiple(of: 50) ? 200 : 1) {
                    guard let index = pending.indices.randomElement(using: &random) else { break }
                    let timer = pending.remove(at: index)
                    #expect(store.remove(timer.id) == timer.name)
                    gone.append(timer)
                }
            case 15...16:
                // A timer that is gone is not found, whichever timer has its slot now.
                guard let timer = gone.randomElement(using: &random) else { break }
                #expect(store.remove(timer.id) == nil)
            case 17...18:
                now += Int64.random(in: 0...60, using: &random)
                var last = Int64.min
                while let due = store.removeFirst(dueBy: now) {
                    guard let index = pending.firstIndex(where: { $0.name == due }) else {
                        Issue.record("\(due) is due and not pending, at step \(step)")
                        return
                    }
                    let timer = pending.remove(at: index)
                    #expect(timer.due <= now && timer.due >= last)
                    last = timer.due
                    gone.append(timer)
                }
                #expect(!pending.contains { $0.due <= now })
            default:
                guard step.isMultiple(of: 3), let token = tokens.randomElement(using: &random) ?? nil else { break }
                let matching = pending.filter { $0.token === token }
                #expect(store.removeAll(with: token).sorted() == matching.map(\.name).sorted())
                gone += matching
                pending.removeAll { $0.token === token }
            }
            guard store.count == pending.count, store.nextDue == pending.map(\.due).min() else {
                Issue.record("the store differs from the list at step \(step)")
                return
            }
        }
    }

    @Test("where nearly all of many timers are cancelled, the rest are due in order")
    func massCancellation() {
        var store = TimerStore<Int>()
        let ids = (0..<100_000).map { store.insert($0, due: Int64(1_000_000 - $0), token: nil) }
        for (name, id) in ids.enumerated() where !name.isMultiple(of: 1000) { #expect(store.remove(id) == name) }
        #expect(store.count == 100)
        var due: [Int] = []
        while let name = store.removeFirst(dueBy: .max) { due.append(name) }
        #expect(due == stride(from: 99_000, through: 0, by: -1000).map { $0 })
        #expect(store.count == 0 && store.nextDue == nil)
        // An old identity finds nothing, also where its slot is in use again.
        let next = (0..<10).map { store.insert($0, due: 1, token: nil) }
        for id in ids { #expect(store.remove(id) == nil) }
        #expect(next.compactMap { store.remove($0) } == Array(0..<10))
    }

    @Test("an empty store has nothing to remove")
    func empty() {
        var store = TimerStore<Int>()
        #expect(store.nextDue == nil)
        #expect(store.removeFirst(dueBy: .max) == nil)
        #expect(store.removeAll(with: CancellationToken()).isEmpty)
    }
}
