// SPDX-License-Identifier: Apache-2.0
internal import SanitizerShim

/// Suspends the task until a holder of the continuation resumes it.
///
/// That can be before the task is suspended. The runtime orders both cases, but reports only the other one to the
/// thread sanitizer, so it is reported here; in other builds this is an empty call.
@inlinable
package func resumption<Value>(_ begin: (UnsafeContinuation<Value, Never>) -> Void) async -> Value {
    let value = await withUnsafeContinuation(begin)
    noteResumption()
    return value
}

/// Reports the resumption of the current task to the thread sanitizer.
@usableFromInline
func noteResumption() { refrain_note_resumption() }
