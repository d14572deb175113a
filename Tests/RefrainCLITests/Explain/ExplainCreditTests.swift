// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainCLI

@Suite("refrain explain: the credit of a retry")
struct ExplainCreditTests {
    private func answer(_ members: String) -> String {
        Batch().answer(Array(#"{"method":"GET",\#(members)}"#.utf8)).text
    }

    @Test(
        "R22, R32: which credit covers a retry, or why none does",
        arguments: [
            (#""status":503,"budget":"standard""#, "retry", "floor", "1"),
            (#""status":503,"history":"200,200,200,200""#, "retry", "deposit", "1"),
            (#""error":"timedOut","history":"timedOut","every":60"#, "retry", "chance", "0.05"),
            (#""error":"timedOut","history":"timedOut,200","every":60"#, "retry", "floor", "1"),
            (#""error":"timedOut","history":"timedOut","every":60,"budget":"per-process""#, "retry", "floor", "1"),
            // 1 s and a wait of 0.25 s on average, after 6 s and after 180 s of failing.
            (#""status":503,"history":"503,503,503","every":2"#, "retry", "chance", "0.208"),
            (#""status":429,"history":"429,429,429","every":60"#, "retry", "chance", "0.0069"),
            (#""status":503,"history":"503,503,503","every":0.2"#, "retry", "floor", "1"),
            (#""status":503,"headers":[["Retry-After","9"]],"history":"503,503","every":60"#, "retry", "floor", "1"),
            (#""status":429,"history":"429,429,429","every":60,"budget":"fleet""#, "retry", "chance", "0.05"),
            (#""error":"networkConnectionLost","history":"503,503,503","every":60"#, "retry", "floor", "1"),
        ]
    )
    func credits(members: String, decision: String, credit: String, chance: String) {
        let answer = answer(members)
        #expect(answer.hasPrefix("{\"decision\":\"\(decision)\","), "\(answer)")
        #expect(answer.contains("\"credit\":\"\(credit)\",\"chance\":\(chance)"), "\(answer)")
    }

    @Test("R22: where nothing covers it, the decision is that of the budget")
    func refused() {
        let many = Array(repeating: "networkConnectionLost", count: 40).joined(separator: ",")
        let answer = answer(#""error":"networkConnectionLost","every":0,"history":"\#(many)""#)
        #expect(answer.hasPrefix(#"{"decision":"finish","reason":"budgetExhausted","#), "\(answer)")
        #expect(answer.contains(#""R22"]"#) && answer.contains(#""credit":"empty","chance":0"#), "\(answer)")
    }

    @Test("an answer without a question about the budget, or without a retry, names no credit")
    func unasked() {
        #expect(!answer(#""status":503"#).contains("credit"))
        #expect(!answer(#""status":404,"history":"503""#).contains("credit"))
    }

    @Test("a history that is none is refused by its name", arguments: ["", "503,,", "503;503", "late", "99"])
    func history(text: String) throws {
        #expect(answer(#""status":503,"history":"\#(text)""#).contains("history is not a list"))
        let command = try ExplainCommand(
            Arguments(["--status", "503", "--history", text], options: CommandSpec.explain.options)
        )
        let error = #expect(throws: UsageError.self) { try command.question() }
        #expect(error?.description.contains("--history") == true)
    }

    @Test("R22, R32: for people the credit is said in words, and longer waits after overload are shown")
    func text() throws {
        func text(_ words: [String]) throws -> String {
            let arguments = try Arguments(words, options: CommandSpec.explain.options)
            return ExplainText(try ExplainCommand(arguments).question()).text
        }
        #expect(
            try text(["--status", "503", "--budget", "standard"]).contains(
                "credit    floor: the minimum of 10 retries a second"
            )
        )
        let chance = try text(["--error", "timedOut", "--history", "timedOut", "--every", "60s"])
        #expect(chance.contains("the floor is closed, and deposits cover it in 5 % of cases"))
        let longer = try text(["--status", "503", "--overload-backoff", "exponential:2s"])
        #expect(longer.contains("delay     0.000 s to 2.000 s") && longer.contains("R32: "))
        let blip = try text(["--error", "cannotConnectToHost", "--overload-backoff", "exponential:2s"])
        #expect(!blip.contains("R32"))
    }
}
