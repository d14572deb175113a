// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import TestSupport
import Testing

@Suite("Locked", .computing)
struct LockedTests {
    @Test("16 threads that add to one value lose nothing")
    func exclusion() {
        let sum = Locked(0)
        race(16) { for _ in 0..<2000 { sum.withLock { $0 += 1 } } }
        #expect(sum.withLock { $0 } == 32_000)
    }

    @Test("an error that the body throws comes out, and the lock is free again")
    func errors() {
        let value = Locked(1)
        #expect(throws: Final.self) {
            try value.withLock { value throws(Final) in
                value = 2
                throw Final()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }
}
