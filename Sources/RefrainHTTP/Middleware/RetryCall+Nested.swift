// Within a try of a retry stage further out (rule R24).
extension RetryCall {
    /// The decision within a try of a stage further out, which leaves no tries to this one.
    @inline(never)
    func decideNested(
        _ attempt: Attempt,
        _ result: HTTPResult,
        after elapsed: Duration
    ) async -> RetryDecision<HTTPResult> {
        var judgement: RetryJudgement?
        if let strategy = nestedStrategy, !isSettled(result, elapsed: elapsed) {
            let facts = allFacts(attempt, result, elapsed: elapsed)
            let (said, isLate) = await ask { [request] in
                await strategy.judgeNested(facts, for: result, of: request)
            }
            judgement = isLate && said != nil ? .finish(.deadlineExceeded, Rules(20)) : said
        }
        return conclude(result, judgement ?? judgementWithoutStrategy(result, elapsed: elapsed), after: elapsed)
    }

    /// Who is to be asked within a try of a stage further out.
    var nestedStrategy: (any NestedStrategy)? {
        RetryNesting.isInside ? strategy as? any NestedStrategy : nil
    }
}
