/// How a delay is randomized, so that clients that fail together do not retry together.
///
/// The kinds and their names are those of Marc Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
public enum Jitter: Hashable, Sendable {
    /// The delay unchanged.
    case none
    /// Uniform between zero and the delay.
    case full
    /// Uniform between half the delay and the delay.
    case equal
    /// Uniform within a fraction of the delay to either side: 0.2 gives 80 % to 120 %.
    ///
    /// The fraction is clamped to 0 … 1; NaN counts as 0.
    case proportional(Double)

    /// The lowest and the highest share of a delay that this jitter gives.
    var shares: ClosedRange<Double> {
        switch self {
        case .none: return 1...1
        case .full: return 0...1
        case .equal: return 0.5...1
        case .proportional(let given):
            let fraction = given > 0 ? min(given, 1) : 0
            return (1 - fraction)...(1 + fraction)
        }
    }
}
