/// A strategy that, for nearly every outcome, knows its judgement without a wait.
///
/// Asked first, it spares the frame of an asynchronous call, which a request in back-off would keep.
package protocol PromptStrategy: HTTPRetryStrategy {
    /// Whether nothing is wrong with a result: then there is nothing to decide, and no facts are gathered for it.
    func isContent(with result: HTTPResult, of request: HTTPRequest) -> Bool

    /// The whole decision, or nil where it takes the asynchronous form to come to one.
    func judgePromptly(_ facts: RetryFacts, for result: HTTPResult, of request: HTTPRequest) -> RetryJudgement?
}

extension PromptStrategy {
    /// It takes the facts to know.
    package func isContent(with result: HTTPResult, of request: HTTPRequest) -> Bool { false }
}

/// A strategy that has a say within a try of a retry stage further out, too, to which all tries belong (rule R24).
package protocol NestedStrategy: HTTPRetryStrategy {
    /// The judgement, where what follows is no try of its own.
    ///
    /// That is the one replay after a refresh of credentials (rule R27).
    func judgeNested(_ facts: RetryFacts, for result: HTTPResult, of request: HTTPRequest) async -> RetryJudgement?
}

extension RetryPolicy: PromptStrategy {
    /// The whole decision: a policy never waits for it.
    package func judgePromptly(
        _ facts: RetryFacts,
        for result: HTTPResult,
        of request: HTTPRequest
    ) -> RetryJudgement? {
        judge(facts)
    }
}
