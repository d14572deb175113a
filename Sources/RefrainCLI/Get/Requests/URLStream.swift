// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A list on standard input, read line by line while the first of its requests are made.
struct URLStream: Sendable {
    /// A request, or the reason that a line or the rest of the list cannot be used.
    typealias Item = Result<ListedRequest, UsageError>

    private let items: AsyncStream<Item>

    /// Starts to read on a separate thread, because a read from a pipe blocks.
    init() {
        let (items, continuation) = AsyncStream<Item>.makeStream()
        self.items = items
        let reader = Unmanaged.passRetained(Reader(continuation))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let failure = pthread_create(&thread, nil, { Reader.run($0) }, reader.toOpaque())
        guard failure == 0 else {
            reader.release()
            continuation.yield(.failure(UsageError("--from: there are no resources for a thread that reads")))
            continuation.finish()
            return
        }
        #if canImport(Darwin)
        if let thread { pthread_detach(thread) }
        #else
        pthread_detach(thread)
        #endif
    }

    /// The next item; nil at the end of the list, and when the task is cancelled.
    func next() async -> Item? {
        for await item in items { return item }
        return nil
    }

    private final class Reader: Sendable {
        private let continuation: AsyncStream<Item>.Continuation

        init(_ continuation: AsyncStream<Item>.Continuation) { self.continuation = continuation }

        static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let pointer else { return nil }
            Unmanaged<Reader>.fromOpaque(pointer).takeRetainedValue().read()
            return nil
        }

        private func read() {
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
}
