#if !canImport(Darwin)
internal import Foundation
internal import RefrainCore
internal import RefrainHTTP

/// A stream of chunks that are written while it is read, for Foundation without bound stream pairs.
final class PipedInput: InputStream {
    private let handover: ChunkHandover

    init(_ handover: ChunkHandover) {
        self.handover = handover
        super.init(data: Data())
    }

    override func open() { handover.open() }

    override func close() { handover.abort() }

    override var streamStatus: Stream.Status { handover.isOpen ? .open : .notOpen }

    /// True until the end was read, because FoundationNetworking interprets false as the end.
    override var hasBytesAvailable: Bool { handover.mayHaveMore }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        handover.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: maxLength))
    }
}

/// Passes chunks from a task to a thread that blocks until there is one.
///
/// FoundationNetworking reads on one queue for all its sessions, so a slow writer blocks all requests.
final class ChunkHandover: Sendable {
    /// Holds one chunk at a time.
    private let channel = ByteChannel(highWater: 1, lowWater: 0)
    private let state = ConditionLock(State())

    private struct State {
        var isOpen = false
        var isAborted = false
        /// Whether there may be something to read since the last look.
        var isToldOfData = false
        var opener: CheckedContinuation<Bool, Never>?
    }

    init() { channel.onData { [weak self] in self?.tellReader() } }

    // MARK: The reader's side

    var isOpen: Bool { state.withLock { $0.isOpen } }

    var mayHaveMore: Bool { !channel.isDrained }

    func open() {
        let opener = state.withLock { state in
            state.isOpen = true
            defer { state.opener = nil }
            return state.opener
        }
        opener?.resume(returning: true)
    }

    /// Waits for bytes; returns 0 at the end, and -1 if the stream was aborted.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while !state.withLock({ $0.isAborted }) {
            if let count = channel.read(into: buffer, limit: { $0.held }) { return count }
            state.wait(after: { _ in }, until: { $0.isToldOfData || $0.isAborted })
            state.withLock { $0.isToldOfData = false }
        }
        return -1
    }

    private func tellReader() {
        state.withLock { $0.isToldOfData = true }
        state.signal()
    }

    // MARK: The writer's side

    /// Waits until the stream is opened; returns false if it never will be.
    func opened() async -> Bool {
        await withCheckedContinuation { continuation in
            let answer: Bool? = state.withLock { state in
                if state.isOpen || state.isAborted { return !state.isAborted }
                state.opener = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Writes a chunk, and waits until it was read; returns false if the reader has ended.
    func write(_ chunk: HTTPBody.Chunk) async -> Bool { await channel.send(chunk) }

    /// Ends the stream after all writes.
    func finish() { channel.finish() }

    /// Ends the stream for both sides, without an end that could be read.
    func abort() {
        let opener = state.withLock { state in
            state.isAborted = true
            defer { state.opener = nil }
            return state.opener
        }
        state.signal()
        channel.close()
        opener?.resume(returning: false)
    }
}
#endif
