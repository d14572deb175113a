/// Whether it is likely that what is waited for comes at once.
///
/// To sleep, and to be woken, takes longer than most answers from nearby, and than a task takes that sends one request
/// after the other. Where a wait was in vain the next few are left out, so that they cost next to nothing.
struct SpinBackoff {
    private var misses = 0
    private var skips = 0

    /// Whether to wait this time.
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
