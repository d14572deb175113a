// SPDX-License-Identifier: Apache-2.0
// The helpers of all tests with sockets, for every file of this target.
@_exported import TestSupport

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
