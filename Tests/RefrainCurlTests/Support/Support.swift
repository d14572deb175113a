import RefrainCurl
import RefrainHTTP
import Testing

/// The error of a result, or a failed test.
func failure(
    of result: HTTPResult,
    _ location: SourceLocation = #_sourceLocation
) throws -> HTTPError {
    switch result {
    case .success(let response):
        Issue.record("the request succeeded with \(response.status)", sourceLocation: location)
        throw Unexpected()
    case .failure(let error):
        return error
    }
}

struct Unexpected: Error {}

/// Runs `body` many times, so many at a time.
func concurrently(
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

/// Waits until a condition holds; false after ten seconds.
func eventually(_ condition: () async -> Bool) async -> Bool {
    for _ in 0..<2000 {
        if await condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return await condition()
}
