internal import SanitizerShim

/// Suspends the task until the loop, or another holder of the continuation, resumes it.
///
/// The loop can resume the task before it is suspended. The runtime orders both cases, but reports only the other one
/// to the thread sanitizer, so it is reported here; in other builds this is an empty call.
func resumption<Value>(_ begin: (UnsafeContinuation<Value, Never>) -> Void) async -> Value {
    let value = await withUnsafeContinuation(begin)
    refrain_note_resumption()
    return value
}
