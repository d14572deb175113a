// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import TestSupport
import Testing

@Suite("A list of slots", .computing)
struct SlotMapTests {
    @Test("10,000 seeded orders of coming and going hold what a set holds")
    func model() {
        forEachSeed { random in
            var list = SlotMap<Int>()
            var slots: [Int: Int] = [:]
            for value in 0..<20 {
                if Bool.random(using: &random), let gone = slots.keys.sorted().randomElement(using: &random) {
                    list.remove(at: slots[gone] ?? -1)
                    slots[gone] = nil
                }
                slots[value] = list.insert(value)
                guard Set(slots.values).count == slots.count, list.count == slots.count,
                    list.all.sorted() == slots.keys.sorted()
                else { return false }
            }
            return true
        }
    }

    @Test("A slot that was left is used again")
    func reuse() {
        var list = SlotMap<String>()
        let slots = [list.insert("a"), list.insert("b"), list.insert("c")]
        list.remove(at: slots[1])
        #expect(list.insert("d") == slots[1])
        #expect(list.all.sorted() == ["a", "c", "d"])
    }
}
