import Testing

@testable import RefrainCore

@Suite("SleeperHeap")
struct SleeperHeapTests {
    @Test("it agrees with a sorted list over 10,000 random operations")
    func againstModel() {
        var random = RandomSource(seed: 0x4EA9)
        var heap = SleeperHeap()
        var model: [Int64] = []
        for step in 0..<10_000 {
            switch Int.random(in: 0...9, using: &random) {
            case 0...5:
                // Few different times, so that equal ones are common. The place says the time again.
                let due = Int64.random(in: 0...500, using: &random)
                heap.insert(Alarm(due: due, place: Int(due)))
                model.append(due)
            case 6...8:
                heap.removeFirst()
                model.sort()
                model = Array(model.dropFirst())
            default:
                guard step.isMultiple(of: 7) else { break }
                let remainder = Int.random(in: 0..<5, using: &random)
                heap.removeAll { $0.place % 5 == remainder }
                model.removeAll { $0 % 5 == remainder }
            }
            guard heap.count == model.count, heap.first?.due == model.min() else {
                Issue.record("the heap differs from the model at step \(step)")
                return
            }
        }
        var drained: [Int64] = []
        while let first = heap.first {
            heap.removeFirst()
            #expect(first.place == Int(first.due))
            drained.append(first.due)
        }
        #expect(drained == model.sorted())
    }

    @Test("an empty heap has no first, and nothing to remove")
    func empty() {
        var heap = SleeperHeap()
        #expect(heap.first == nil)
        heap.removeFirst()
        heap.removeAll { _ in true }
        #expect(heap.count == 0)
    }
}
