internal import Dispatch
internal import Foundation
internal import RefrainCore
internal import RefrainHTTP

/// A pair of streams: chunks are written to one, and URLSession reads the other.
final class StreamPair: @unchecked Sendable {
    // @unchecked Sendable: only URLSession uses `input`; the other end is used on `queue`, or has its own lock.

    #if canImport(Darwin)
    /// The stream that URLSession reads.
    let input: InputStream
    private let output: OutputStream
    /// The queue on which writing blocks while URLSession is slow.
    private let queue = DispatchQueue(label: "refrain-urlsession-upload")
    private let isAborted = Locked(false)

    init() {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(withBufferSize: 65_536, inputStream: &input, outputStream: &output)
        self.input = input ?? InputStream(data: Data())
        self.output = output ?? OutputStream(toMemory: ())
    }

    /// Waits until reading begins; returns false if it never will.
    func opened() async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                output.open()
                continuation.resume(returning: true)
            }
        }
    }

    /// Writes a chunk; returns false if the reader has ended.
    func write(_ chunk: HTTPBody.Chunk) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: writeAll(chunk)) }
        }
    }

    private func writeAll(_ chunk: HTTPBody.Chunk) -> Bool {
        chunk.withUnsafeBytes { bytes in
            guard var next = bytes.bindMemory(to: UInt8.self).baseAddress else { return true }
            var left = bytes.count
            while left > 0 {
                guard !isAborted.withLock({ $0 }) else { return false }
                let count = output.write(next, maxLength: left)
                guard count > 0 else { return false }
                next += count
                left -= count
            }
            return true
        }
    }

    /// Ends the stream after all writes.
    func finish() { queue.async { [self] in output.close() } }

    /// Stops writing without ending the stream.
    func abort() { isAborted.withLock { $0 = true } }

    /// Closes the stream; a blocked write returns when the other end is closed.
    func close() {
        abort()
        input.close()
        queue.async { [self] in output.close() }
    }
    #else
    /// The stream that URLSession reads.
    let input: InputStream
    private let handover: ChunkHandover

    init() {
        handover = ChunkHandover()
        input = PipedInput(handover)
    }

    /// Waits until reading begins; returns false if it never will.
    func opened() async -> Bool { await handover.opened() }

    /// Writes a chunk; returns false if the reader has ended.
    func write(_ chunk: HTTPBody.Chunk) async -> Bool { await handover.write(chunk) }

    /// Ends the stream after all writes.
    func finish() { handover.finish() }

    /// Stops writing without ending the stream.
    func abort() { handover.abort() }

    /// Closes the stream.
    func close() { handover.abort() }
    #endif
}
