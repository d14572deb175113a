// SPDX-License-Identifier: Apache-2.0
import Refrain
import Testing

@testable import RefrainCLI

@Suite("Schedules on the command line")
struct BackoffTextTests {
    private func policy(_ words: String...) throws -> RetryPolicy {
        try PolicyText.policy(Arguments(words, options: CommandSpec.get.options))
    }

    private func waits(_ schedule: Backoff, _ count: Int) -> [Duration?] {
        (1...count).map { schedule.delayRange(after: Attempt(number: $0))?.upperBound }
    }

    @Test(
        "each kind is read with its parts",
        arguments: [
            (
                "exponential:100ms:3:1s",
                [Duration.milliseconds(100), .milliseconds(300), .milliseconds(900), .seconds(1)]
            ),
            ("exponential:1s", [.seconds(1), .seconds(2), .seconds(4), .seconds(8)]),
            ("constant:1s", [.seconds(1), .seconds(1), .seconds(1), .seconds(1)]),
            ("linear:1s", [.seconds(1), .seconds(2), .seconds(3), .seconds(4)]),
            ("linear:1s:500ms:2s", [.seconds(1), .milliseconds(1500), .seconds(2), .seconds(2)]),
            ("fibonacci:1s", [.seconds(1), .seconds(1), .seconds(2), .seconds(3)]),
            ("fibonacci:1s:2s", [.seconds(1), .seconds(1), .seconds(2), .seconds(2)]),
            ("none", [.zero, .zero, .zero, .zero]),
            ("constant:0s", [.zero, .zero, .zero, .zero]),
        ]
    )
    func kinds(text: String, expected: [Duration]) throws {
        let schedule = try policy("--backoff", text, "--attempts", "5").schedule
        #expect(waits(schedule, 4) == expected)
        #expect(waits(schedule, 5).last == .some(nil))
    }

    @Test("without options the schedule is the recommended one, of three attempts with full jitter, capped at 30 s")
    func standard() throws {
        #expect(try policy() == .recommended)
        let written = try policy("--backoff", "exponential:500ms:2:30s", "--attempts", "3", "--jitter", "full")
        #expect(written == .recommended)
    }

    @Test("a schedule that names no cap is capped at 30 s, or at its base where that is longer")
    func caps() throws {
        #expect(try policy("--backoff", "exponential:1s:100").schedule.cap == .seconds(30))
        #expect(try policy("--backoff", "linear:45s").schedule.cap == .seconds(45))
    }

    @Test("jitter defaults to full")
    func jitter() throws {
        #expect(try policy("--backoff", "constant:1s").schedule.jitter == .full)
        #expect(try policy("--jitter", "equal").schedule.jitter == .equal)
        #expect(try policy("--jitter", "none").schedule.jitter == .none)
    }

    @Test(
        "what is no schedule is refused with the option's name",
        arguments: [
            "", "exponental:1s", "constant", "constant:", "constant:1", "constant:1s:2s", "constant:-1s", "none:1s",
            "exponential", "exponential:1s:", "exponential:1s:0.5", "exponential:1s:inf", "exponential:1s:2:500ms",
            "exponential:1s:2:3s:4", "linear:1s:x", "fibonacci:9999999999999999s", "exponential:1s:1e9", ":",
        ]
    )
    func refuses(text: String) {
        let error = #expect(throws: UsageError.self) { try policy("--backoff", text) }
        #expect(error?.description.hasPrefix("--backoff") == true)
    }

    @Test(
        "numbers of attempts below one or beyond reason are refused",
        arguments: ["0", "-1", "x", "1000001", "99999999999999999999", "3.0", ""]
    )
    func attempts(text: String) {
        let error = #expect(throws: UsageError.self) { try policy("--attempts", text) }
        #expect(error?.description.hasPrefix("--attempts: \"") == true)
    }

    @Test("statuses are replaced or added")
    func statuses() throws {
        #expect(try policy("--retry-status", "500").criteria == .rules(statuses: [500]))
        #expect(try policy("--retry-status", "+404").criteria == .rules(added: [404]))
        // A success is never repeated for its status.
        #expect(throws: UsageError.self) { try policy("--retry-status", "+202") }
    }
}
