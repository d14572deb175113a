/// One retry budget for each origin, made when the origin is first asked (rule R22).
public final class RetryBudgets: Sendable {
    private let make: @Sendable (Origin) -> RetryBudget
    private let budgets = Locked<[Origin: RetryBudget]>([:])

    /// How many origins are remembered.
    ///
    /// Past it, all are forgotten: a budget's memory is only seconds long anyway.
    private static let capacity = 4096

    /// Keeps budgets that `make` opens; the standard ones unless told otherwise.
    public init(_ make: @escaping @Sendable (Origin) -> RetryBudget = { _ in .standard() }) {
        self.make = make
    }

    /// The budgets that all retry stages of the process share unless told otherwise.
    public static let shared = RetryBudgets()

    /// The budget of an origin.
    public func budget(for origin: Origin) -> RetryBudget {
        budgets.withLock { budgets in
            if let known = budgets[origin] { return known }
            if budgets.count >= Self.capacity { budgets.removeAll() }
            let new = make(origin)
            budgets[origin] = new
            return new
        }
    }
}
