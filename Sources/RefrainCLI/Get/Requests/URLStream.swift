// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Refrain

/// A list on standard input, read line by line while the first of its requests are made.
struct URLStream: Sendable {
    /// A request, or the reason that a line or the rest of the list cannot be used.
    typealias Item = Result<ListedRequest, UsageError>

    private let items: AsyncStream<Item>

    /// Starts to read on a thread of its own, because a read from a pipe blocks.
    init() {
        let (items, continuation) = AsyncStream<Item>.makeStream()
        self.items = items
        DispatchQueue(label: "refrain.list").async { Self.read(into: continuation) }
    }

    /// The next item; nil at the end of the list, and when the task is cancelled.
    func next() async -> Item? {
        for await item in items { return item }
        return nil
    }

    private static func read(into continuation: AsyncStream<Item>.Continuation) {
        var lines = LineBuffer()
        var number = 0
        func take(_ line: [UInt8]) {
            number += 1
            do throws(UsageError) {
                if let request = try URLList.request(in: line[...], number: number, of: "standard input") {
                    continuation.yield(.success(request))
                }
            } catch {
                continuation.yield(.failure(error))
            }
        }
        do {
            let input = try Input(path: "-")
            while let chunk = try input.next() { lines.take(chunk, take) }
            lines.finish(take)
        } catch {
            continuation.yield(.failure(UsageError("--from: \(error)")))
        }
        continuation.finish()
    }
}
