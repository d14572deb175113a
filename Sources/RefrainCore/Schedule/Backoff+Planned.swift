#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension Backoff {
    /// The delay before the first retry, before jitter.
    var firstDelay: Duration {
        switch kind {
        case .constant(let delay): delay
        case .linear(let base, _): base
        case .exponential(let base, _): base
        case .fibonacci(let base): base
        case .decorrelated(let base): base
        case .explicit(let delays): delays.min() ?? .zero
        }
    }

    /// The delay after the given try, before jitter and cap, or nil where the schedule has no more.
    ///
    /// Products are taken in floating point, where what is too large becomes infinite and then
    /// `Duration.longestDelay`; nothing here can overflow.
    func plannedDelay(afterTry tries: Int) -> Duration? {
        let steps = Double(tries - 1)
        switch kind {
        case .constant(let delay), .decorrelated(let delay):
            return delay
        case .linear(let base, let increment):
            return .delay(seconds: base.inSeconds + increment.inSeconds * steps)
        case .exponential(let base, let factor):
            guard base > .zero else { return .zero }
            return .delay(seconds: base.inSeconds * pow(factor, steps))
        case .fibonacci(let base):
            guard base > .zero else { return .zero }
            return .delay(seconds: base.inSeconds * Self.fibonacci(tries))
        case .explicit(let delays):
            return delays.indices.contains(tries - 1) ? delays[tries - 1] : nil
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
