import Testing

@testable import RefrainCore

@Suite("SleeperHeap")
struct SleeperHeapTests {
    @Test("it agrees with a sorted list over 10,000 random operations")
    func againstModel() {
        var random = RandomSource(seed: 0x4EA9)
        var heap = SleeperHeap()
        var model: [Sleeper] = []
        let groups = (0..<4).map { _ in SleepGroup() }
        for step in 0..<10_000 {
            switch Int.random(in: 0...9, using: &random) {
            case 0...4:
                // Few different times, so that equal ones are common.
                let sleeper = Sleeper(
                    due: Int64.random(in: 0...500, using: &random),
                    group: groups.randomElement(using: &random)
                )
                heap.insert(sleeper)
                model.append(sleeper)
            case 5...6:
                guard let first = heap.first else { break }
                #expect(first.due == model.map(\.due).min())
                heap.remove(first)
                model.removeAll { $0 === first }
            case 7...8:
                guard let any = model.randomElement(using: &random) else { break }
                heap.remove(any)
                model.removeAll { $0 === any }
                // A second time it is not there any more, and nothing happens.
                heap.remove(any)
            default:
                guard step.isMultiple(of: 7), let group = groups.randomElement(using: &random) else { break }
                let leaving = heap.removeAll { $0.group === group }
                #expect(leaving.count == model.count { $0.group === group })
                #expect(leaving.allSatisfy { $0.position == -1 })
                model.removeAll { $0.group === group }
            }
            guard heap.count == model.count, heap.first?.due == model.map(\.due).min() else {
                Issue.record("the heap differs from the model at step \(step)")
                return
            }
        }
        var drained: [Int64] = []
        while let first = heap.first {
            heap.remove(first)
            drained.append(first.due)
        }
        #expect(drained == model.map(\.due).sorted())
    }

    @Test("an empty heap has no first, and nothing to remove")
    func empty() {
        var heap = SleeperHeap()
        #expect(heap.first == nil)
        #expect(heap.removeAll { _ in true }.isEmpty)
        heap.remove(Sleeper(due: 1, group: nil))
        #expect(heap.count == 0)
    }
}
