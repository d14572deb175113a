/// A strategy that, for nearly every outcome, knows its judgement without a wait.
///
/// Asked first, it spares the frame of an asynchronous call, which a request in back-off would keep.
package protocol PromptStrategy: HTTPRetryStrategy {
    /// The whole decision, or nil where it takes the asynchronous form to come to one.
    func judgePromptly(_ facts: RetryFacts, for result: HTTPResult, of request: HTTPRequest) -> RetryJudgement?
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
