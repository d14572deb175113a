/// What a retry stage was made with; all its calls refer to it.
final class RetrySettings: Sendable {
    let strategy: (any HTTPRetryStrategy)?
    /// The strategy, where it can be asked without a wait; looked up once, since that takes a while.
    let promptStrategy: (any PromptStrategy)?
    let budgets: RetryBudgets?
    let clocks: ClockPair
    let random: RandomSource

    init(
        _ strategy: (any HTTPRetryStrategy)?,
        _ budgets: RetryBudgets?,
        _ clocks: ClockPair,
        _ random: RandomSource
    ) {
        self.strategy = strategy
        promptStrategy = strategy as? any PromptStrategy
        self.budgets = budgets
        self.clocks = clocks
        self.random = random
    }
}
