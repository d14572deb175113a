internal import SanitizerShim

/// Suspends the task until the loop, or whoever else got it, resumes the continuation.
///
/// The loop can be faster than the task, and resume it before it is suspended. The runtime keeps the two in order then
/// too, but tells the thread sanitizer only of the other case. So it is told here; elsewhere this costs an empty call.
func resumption<Value>(_ begin: (UnsafeContinuation<Value, Never>) -> Void) async -> Value {
    let value = await withUnsafeContinuation(begin)
    refrain_note_resumption()
    return value
}
