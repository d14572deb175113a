#if canImport(Glibc)
internal import Glibc
// On Linux `timespec` reaches Swift through this module, or through Glibc, whichever the compiler has built first.
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The two clocks of the system, as numbers.
package enum SystemTime {
    /// The nanoseconds of the monotonic clock.
    package static var monotonicNanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// The time since the Unix epoch.
    package static var sinceEpoch: Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
