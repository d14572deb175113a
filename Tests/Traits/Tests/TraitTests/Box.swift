// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A value that closures share.
final class Box<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: sending Value) { self.value = Mutex(value) }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { value in body(&value) }
    }
}
