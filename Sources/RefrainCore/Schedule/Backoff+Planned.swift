#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension Backoff {
    /// Returns the delay after the given attempt, before jitter and cap, or nil at the end of the schedule.
    ///
    /// The result may be negative where the given values are. Products are calculated in floating point, where what is
    /// too large becomes infinite and then `Duration.longestDelay`, so nothing can overflow.
    func plannedDelay(afterAttempt count: Int) -> Duration? {
        let steps = Double(count - 1)
        switch kind {
        case .constant(let delay), .decorrelated(let delay):
            return delay
        case .linear(let base, let increment):
            let (base, increment) = (base.clampedToDelay, increment.clampedToDelay)
            return .delay(seconds: base.inSeconds + increment.inSeconds * steps)
        case .exponential(let base, let factor):
            guard base > .zero else { return .zero }
            // Also where it is NaN, which compares as false.
            let factor = factor >= 1 ? min(factor, .greatestFiniteMagnitude) : 1
            return .delay(seconds: base.inSeconds * pow(factor, steps))
        case .fibonacci(let base):
            guard base > .zero else { return .zero }
            return .delay(seconds: base.inSeconds * Self.fibonacci(count))
        case .explicit(let delays):
            return delays.indices.contains(count - 1) ? delays[count - 1] : nil
        }
    }

    /// The Fibonacci number with this index (1, 1, 2, 3, 5 …), infinite from index 1,477 on.
    private static func fibonacci(_ index: Int) -> Double {
        var (current, next) = (1.0, 1.0)
        var position = 1
        while position < index, current.isFinite {
            (current, next) = (next, current + next)
            position += 1
        }
        return current
    }
}
