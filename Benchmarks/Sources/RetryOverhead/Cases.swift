// SPDX-License-Identifier: Apache-2.0
import Refrain

/// Ways to call an asynchronous operation, and to call it again.
enum Case: String, CaseIterable {
    /// The call alone: what the others are measured against.
    case bareAwait = "bare await"
    /// The loop that is written by hand, with `do` and `catch` around the call.
    case plainLoop = "plain loop"
    /// `withRetry` with its default schedule.
    case withRetry = "withRetry"
    /// The loop by hand, round an operation that fails once; no wait.
    case plainLoopFailing = "plain loop, one failure"
    /// `withRetry` round an operation that fails once; no wait.
    case withRetryFailing = "withRetry, one failure"
    /// A task for each call.
    case task = "Task {}"
    /// A task for each call that would try again.
    case taskRetrying = "Task.retrying"
    /// A request of a session, whose transport answers at once.
    case instant = "Session, answered at once"
    /// The same, validated and decoded.
    case instantDecoded = "Session, answered at once, decoded"

    var fails: Bool { self == .plainLoopFailing || self == .withRetryFailing }
    /// How many calls are measured in one go.
    var calls: Int {
        switch self {
        case .task, .taskRetrying, .instant, .instantDecoded: 10_000
        default: 100_000
        }
    }

    /// Calls `operation` `count` times and returns the sum of its answers, so that no call can be left out.
    func run(count: Int, operation: @escaping @Sendable () async throws -> Int) async throws -> Int {
        var sum = 0
        switch self {
        case .bareAwait:
            for _ in 0..<count { sum &+= try await operation() }
        case .plainLoop, .plainLoopFailing:
            for _ in 0..<count { sum &+= try await loopOverAttempts(attempts: 3, operation) }
        case .withRetry:
            for _ in 0..<count { sum &+= try await RefrainCore.withRetry { try await operation() } }
        case .withRetryFailing:
            for _ in 0..<count { sum &+= try await RefrainCore.withRetry(.immediately()) { try await operation() } }
        case .task:
            for _ in 0..<count { sum &+= try await Task { try await operation() }.value }
        case .taskRetrying:
            for _ in 0..<count { sum &+= try await Task.retrying { try await operation() }.value }
        case .instant:
            let request = try HTTPRequest("http://127.0.0.1/")
            for _ in 0..<count { sum &+= try await Instant.session.request(request).serializingData().value.count }
        case .instantDecoded:
            let request = try HTTPRequest("http://127.0.0.1/")
            for _ in 0..<count {
                sum &+= try await Instant.session.request(request).validate()
                    .serializingDecodable(Instant.Answer.self).value.n
            }
        }
        return sum
    }
}

private func loopOverAttempts(attempts: Int, _ operation: () async throws -> Int) async throws -> Int {
    var attempt = 1
    while true {
        do {
            return try await operation()
        } catch {
            if attempt >= attempts { throw error }
            attempt += 1
        }
    }
}

/// A session above a transport that answers at once.
private enum Instant {
    struct Answer: Decodable {
        let n: Int
    }

    static let session = Session(loader: Transport())

    private struct Transport: HTTPLoader {
        func load(_ request: HTTPRequest) async -> HTTPResult {
            .success(
                HTTPResponse(
                    request: request,
                    status: 200,
                    headers: ["Content-Type": "application/json"],
                    body: .text("{\"n\":1}")
                )
            )
        }
    }
}
