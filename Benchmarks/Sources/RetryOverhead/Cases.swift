/// Ways to call an asynchronous operation that succeeds at once.
enum Case: String, CaseIterable {
    /// The call alone: what the others are measured against.
    case bareAwait = "bare-await"
    /// What people write by hand: a loop with `do` and `catch` round the call.
    case plainLoop = "plain-loop"

    /// Calls `operation` `count` times and returns the sum of its answers, so that no call can be left out.
    func run(count: Int, operation: () async throws -> Int) async throws -> Int {
        var sum = 0
        switch self {
        case .bareAwait:
            for _ in 0..<count { sum &+= try await operation() }
        case .plainLoop:
            for _ in 0..<count { sum &+= try await loopOverTries(tries: 3, operation) }
        }
        return sum
    }
}

@inline(never)
private func loopOverTries(tries: Int, _ operation: () async throws -> Int) async throws -> Int {
    var attempt = 1
    while true {
        do {
            return try await operation()
        } catch {
            if attempt >= tries { throw error }
            attempt += 1
        }
    }
}
