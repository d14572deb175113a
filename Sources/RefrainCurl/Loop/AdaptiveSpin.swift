#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// How the loop's thread waits for a moment before it sleeps, when nothing is under way.
///
/// A task that sends one request after the other comes back within microseconds of a response. To sleep meanwhile, and
/// to be woken, takes longer than that. Only after requests that no caller would have driven by itself.
struct AdaptiveSpin {
    /// How long it waits at most, in nanoseconds.
    private static let limit: MonotonicTime = 30_000

    private var patience = SpinBackoff()

    /// Waits until there is something to do; false where there was nothing.
    mutating func wait(until isReady: () -> Bool) -> Bool {
        guard patience.mayWait() else { return false }
        let limit = MonotonicTime.now &+ Self.limit
        repeat {
            // On a machine with one free processor this is when the task gets to run.
            sched_yield()
            if isReady() {
                patience.noteHit()
                return true
            }
        } while MonotonicTime.now < limit
        patience.noteMiss()
        return false
    }
}
