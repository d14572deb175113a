internal import RefrainCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// How the loop waits for a moment before it sleeps, when nothing is under way.
///
/// A task that sends one request after the other comes back within microseconds of a response. To sleep meanwhile, and
/// to be woken, takes longer than that. Where nobody comes, the loop sleeps at once the next few times, so an idle
/// loader costs nothing.
struct Patience {
    /// How long it waits at most, in nanoseconds.
    private static let limit: Moment = 30_000

    private var misses = 0
    private var skips = 0

    /// Waits until there is something to do; false where there was nothing.
    mutating func wait(until isReady: () -> Bool) -> Bool {
        guard skips == 0 else {
            skips -= 1
            return false
        }
        let limit = Moment.now &+ Self.limit
        repeat {
            // On a machine with one free processor this is when the task gets to run.
            sched_yield()
            if isReady() {
                misses = 0
                return true
            }
        } while Moment.now < limit
        misses = min(misses + 1, 6)
        skips = (1 << misses) - 1
        return false
    }
}
