import RefrainHTTP
import Testing

/// The error of a result, or a failed test.
func failure(of result: HTTPResult, _ location: SourceLocation = #_sourceLocation) throws -> HTTPError {
    switch result {
    case .success(let response):
        Issue.record("the request succeeded with \(response.status)", sourceLocation: location)
        throw Unexpected()
    case .failure(let error):
        return error
    }
}

struct Unexpected: Error {}

/// Waits until a condition holds; false after twenty seconds.
func eventually(_ condition: () async -> Bool) async -> Bool {
    for _ in 0..<2000 {
        if await condition() { return true }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return await condition()
}

struct SourceFailed: Error {}

/// Chunks that are made when they are asked for; the source may fail, or never come to an end.
struct Chunks: AsyncSequence, Sendable {
    enum End { case well, failing, hanging, late(Duration) }

    var count: Int
    var size: Int
    var end = End.well

    struct Iterator: AsyncIteratorProtocol {
        var chunks: Chunks
        var number = 0

        mutating func next() async throws -> [UInt8]? {
            guard number < chunks.count else {
                switch chunks.end {
                case .well: return nil
                case .failing: throw SourceFailed()
                case .late(let delay):
                    try await Task.sleep(for: delay)
                    return nil
                case .hanging:
                    try await Task.sleep(for: .seconds(86_400))
                    return nil
                }
            }
            number += 1
            return [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: chunks.size)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(chunks: self) }
}
