import RefrainCore
import Testing

@Suite("Refusals of the schedules")
struct BackoffRefusalTests {
    private func argument(_ make: () throws -> Backoff) -> String {
        do {
            _ = try make()
            return "accepted"
        } catch {
            return (error as? InvalidArgument)?.argument ?? "\(error)"
        }
    }

    @Test("R31: fewer than one try is refused by name", arguments: [0, -1, Int.min])
    func attempts(count: Int) {
        let name = "maximumNumberOfAttempts"
        #expect(argument { try .immediately(maximumNumberOfAttempts: count) } == name)
        #expect(argument { try .constant(delay: .zero, maximumNumberOfAttempts: count) } == name)
        #expect(argument { try .linear(from: .zero, maximumNumberOfAttempts: count) } == name)
        #expect(argument { try .exponential(from: .zero, maximumNumberOfAttempts: count) } == name)
        #expect(argument { try .exponential(delay: .zero, maximumNumberOfAttempts: count) } == name)
        #expect(argument { try .fibonacci(from: .zero, maximumNumberOfAttempts: count) } == name)
        #expect(argument { try .decorrelated(from: .zero, maximumNumberOfAttempts: count) } == name)
        #expect(argument { try .explicit([], maximumNumberOfAttempts: count) } == name)
        #expect(argument { try Backoff.standard.limited(toAttempts: count) } == "attempts")
    }

    @Test(
        "R31: negative times are refused by name",
        arguments: [Duration.nanoseconds(-1), Duration(attoseconds: .min)]
    )
    func times(negative: Duration) {
        #expect(argument { try .constant(delay: negative) } == "delay")
        #expect(argument { try .exponential(delay: negative) } == "delay")
        #expect(argument { try .exponential(from: negative) } == "from")
        #expect(argument { try .linear(from: negative) } == "from")
        #expect(argument { try .linear(from: .zero, increment: negative) } == "increment")
        #expect(argument { try .fibonacci(from: negative) } == "from")
        #expect(argument { try .decorrelated(from: negative) } == "from")
        #expect(argument { try .explicit([.zero, negative]) } == "delays")
        #expect(argument { try Backoff.immediately().capped(at: negative) } == "cap")
    }

    @Test("R31: a factor under 1, infinite or not a number is refused", arguments: [0.99, 0, -2, .infinity, .nan])
    func factor(value: Double) {
        #expect(argument { try .exponential(from: .seconds(1), factor: value) } == "factor")
    }

    @Test("R31: a proportion outside of 0 to 1 is refused", arguments: [-0.01, 1.01, .infinity, .nan])
    func proportion(value: Double) {
        #expect(argument { try Backoff.standard.jittered(.proportional(value)) } == "jitter")
    }

    @Test("R31: a cap below the base is refused, and one that equals it is not")
    func cap() throws {
        let schedule = try Backoff.exponential(from: .seconds(2))
        #expect(argument { try schedule.capped(at: .seconds(1)) } == "cap")
        #expect(try schedule.capped(at: .seconds(2)).cap == .seconds(2))
    }

    @Test("a refusal says the name, the value and what would do")
    func wording() {
        #expect(throws: InvalidArgument("factor", is: 0.5, expected: "a finite number of at least 1")) {
            try Backoff.exponential(from: .seconds(1), factor: 0.5)
        }
        let refusal = InvalidArgument("factor", is: 0.5, expected: "a finite number of at least 1")
        #expect("\(refusal)" == "factor is 0.5, but must be a finite number of at least 1")
    }
}
