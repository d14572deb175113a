// SPDX-License-Identifier: Apache-2.0
import Refrain
import RefrainAlamofire
import Testing

import class RefrainAlamofire.RetryPolicy

@Suite("A file that imports both modules")
struct BothModulesTests {
    // @unchecked Sendable: it has no properties of its own.
    private final class Stubborn: RetryPolicy, @unchecked Sendable {}

    @Test("has the class by a scoped import, and the structure by its module")
    func names() {
        let policy = Stubborn(retryLimit: 5)
        #expect(policy.retryLimit == 5)
        let value: Refrain.RetryPolicy = policy.strategy
        #expect(value.retryLimit == 5)
    }
}
