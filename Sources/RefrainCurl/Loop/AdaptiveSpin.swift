// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A short wait of the loop's thread for commands before it sleeps.
///
/// A task that sends requests one after the other submits the next one within microseconds of a response, which is less
/// than a sleep and a wake-up take. The thread spins only after transfers that no caller could have driven itself.
struct AdaptiveSpin {
    /// The maximum wait, in nanoseconds.
    private static let limit: MonotonicTime = 30_000

    private var backoff = SpinBackoff()

    /// Waits until `isReady` returns true; returns false if it did not within the limit.
    mutating func wait(until isReady: () -> Bool) -> Bool {
        guard backoff.mayWait() else { return false }
        let limit = MonotonicTime.now &+ Self.limit
        repeat {
            // With one free processor the task runs during this call.
            sched_yield()
            if isReady() {
                backoff.noteHit()
                return true
            }
        } while MonotonicTime.now < limit
        backoff.noteMiss()
        return false
    }
}

/// Predicts whether a short wait succeeds.
///
/// A sleep and a wake-up take longer than most responses of nearby servers, and longer than a task takes between two
/// requests. After a wait that failed the next ones are skipped: 1 after the first failure in a row, up to 63 after
/// six, so that failures cost little.
struct SpinBackoff {
    private var misses = 0
    private var skips = 0

    /// Returns whether to wait this time.
    mutating func mayWait() -> Bool {
        guard skips > 0 else { return true }
        skips -= 1
        return false
    }

    mutating func noteHit() { misses = 0 }

    mutating func noteMiss() {
        misses = min(misses + 1, 6)
        skips = (1 << misses) - 1
    }
}
