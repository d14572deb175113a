internal import Dispatch
internal import Foundation
internal import RefrainCore
internal import RefrainHTTP

/// Two ends of a stream: chunks are written into one, and URLSession reads the other.
final class StreamPair: @unchecked Sendable {
    // @unchecked Sendable: `input` is URLSession's alone; the other end is touched on `queue`, or has its own lock.

    #if canImport(Darwin)
    /// What URLSession reads.
    let input: InputStream
    private let output: OutputStream
    /// Where writing blocks while URLSession is slow.
    private let queue = DispatchQueue(label: "refrain-urlsession-upload")
    private let isAborted = Locked(false)

    init() {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(withBufferSize: 65_536, inputStream: &input, outputStream: &output)
        self.input = input ?? InputStream(data: Data())
        self.output = output ?? OutputStream(toMemory: ())
    }

    /// Waits until somebody wants to read; false where nobody will.
    func opened() async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                output.open()
                continuation.resume(returning: true)
            }
        }
    }

    /// Writes a chunk; false where nobody reads any more.
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

    /// Ends the stream, all of it being written.
    func finish() { queue.async { [self] in output.close() } }

    /// Writes nothing more, and ends nothing.
    func abort() { isAborted.withLock { $0 = true } }

    /// Lets go of the stream; a write that waits returns when the other end is closed.
    func close() {
        abort()
        input.close()
        queue.async { [self] in output.close() }
    }
    #else
    /// What URLSession reads.
    let input: InputStream
    private let handover: ChunkHandover

    init() {
        handover = ChunkHandover()
        input = PipedInput(handover)
    }

    /// Waits until somebody wants to read; false where nobody will.
    func opened() async -> Bool { await handover.opened() }

    /// Writes a chunk; false where nobody reads any more.
    func write(_ chunk: HTTPBody.Chunk) async -> Bool { await handover.write(chunk) }

    /// Ends the stream, all of it being written.
    func finish() { handover.end(.finished) }

    /// Writes nothing more, and ends nothing.
    func abort() { handover.end(.aborted) }

    /// Lets go of the stream.
    func close() { handover.end(.aborted) }
    #endif
}
