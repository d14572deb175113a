// SPDX-License-Identifier: Apache-2.0
public import RefrainHTTP
public import Testing

/// What a test expected did not come.
public struct Unexpected: Error {
    /// Makes the error.
    public init() {}
}

/// The error of a result, or a failed test.
public func failure(of result: HTTPResult, _ location: SourceLocation = #_sourceLocation) throws -> HTTPError {
    switch result {
    case .success(let response):
        Issue.record("the request succeeded with \(response.status)", sourceLocation: location)
        throw Unexpected()
    case .failure(let error):
        return error
    }
}

/// Runs `body` many times, so many at a time.
public func concurrently(
    _ count: Int,
    inFlight: Int,
    _ body: @escaping @Sendable (Int) async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        var next = 0
        while next < min(inFlight, count) {
            let number = next
            group.addTask { try await body(number) }
            next += 1
        }
        while try await group.next() != nil {
            guard next < count else { continue }
            let number = next
            group.addTask { try await body(number) }
            next += 1
        }
    }
}

/// Waits until a condition holds; false after so many seconds, which are more than a busy machine delays anything.
public func eventually(within seconds: Int = 90, _ condition: () async -> Bool) async -> Bool {
    for _ in 0..<seconds * 200 {
        if await condition() { return true }
        // No event: what is waited for happens in the kernel or in a transport.
        try? await Task.sleep(for: .milliseconds(5))
    }
    return await condition()
}
