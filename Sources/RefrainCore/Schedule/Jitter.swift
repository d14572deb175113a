/// How a delay is spread, so that clients that failed together do not return together.
///
/// The kinds and their names are those of "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
public enum Jitter: Hashable, Sendable {
    /// The delay as it is.
    case none
    /// Uniform between zero and the delay.
    case full
    /// Uniform between half the delay and the delay.
    case equal
    /// Uniform within a fraction of the delay to either side: 0.2 gives 80 % to 120 %. Fractions go from 0 to 1.
    case proportional(Double)

    /// The lowest and the highest share of a delay that this jitter gives.
    var shares: ClosedRange<Double> {
        switch self {
        case .none: 1...1
        case .full: 0...1
        case .equal: 0.5...1
        case .proportional(let fraction): (1 - fraction)...(1 + fraction)
        }
    }
}
