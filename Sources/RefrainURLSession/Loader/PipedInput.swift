#if !canImport(Darwin)
internal import Foundation
internal import RefrainHTTP

/// A stream of chunks that are written while it is read, for Foundation without bound stream pairs.
final class PipedInput: InputStream {
    let handover: ChunkHandover

    init(_ handover: ChunkHandover) {
        self.handover = handover
        super.init(data: Data())
    }

    override func open() { handover.open() }

    override func close() { handover.end(.aborted) }

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
final class ChunkHandover: @unchecked Sendable {
    // @unchecked Sendable: mutable state is accessed only while `lock` is held.

    enum End { case finished, aborted }

    private typealias Waiter = CheckedContinuation<Bool, Never>

    private let lock = NSCondition()
    private var chunk: ArraySlice<UInt8> = []
    private var end: End?
    private var wasOpened = false
    private var opener: Waiter?
    private var writer: Waiter?

    // MARK: The reader's side

    var isOpen: Bool { locked { wasOpened } }

    var mayHaveMore: Bool { locked { end != .finished || !chunk.isEmpty } }

    func open() {
        let waiter: Waiter? = locked {
            wasOpened = true
            defer { opener = nil }
            return opener
        }
        waiter?.resume(returning: true)
    }

    /// Waits for bytes; returns 0 at the end, and -1 if the stream was aborted.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let (count, waiter): (Int, Waiter?) = locked {
            while chunk.isEmpty, end == nil { lock.wait() }
            guard end != .aborted else { return (-1, nil) }
            let piece = chunk.prefix(buffer.count)
            buffer.copyBytes(from: piece)
            chunk = chunk.dropFirst(piece.count)
            guard chunk.isEmpty else { return (piece.count, nil) }
            defer { writer = nil }
            return (piece.count, writer)
        }
        waiter?.resume(returning: true)
        return count
    }

    // MARK: The writer's side

    /// Waits until the stream is opened; returns false if it never will be.
    func opened() async -> Bool {
        await withCheckedContinuation { continuation in
            let answer: Bool? = locked {
                if wasOpened || end != nil { return end == nil }
                opener = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Writes a chunk, and waits until it was read; returns false if the reader has ended.
    func write(_ bytes: HTTPBody.Chunk) async -> Bool {
        await withCheckedContinuation { continuation in
            let isOver = locked {
                guard end == nil else { return true }
                chunk = bytes[...]
                writer = continuation
                lock.signal()
                return false
            }
            if isOver { continuation.resume(returning: false) }
        }
    }

    func end(_ how: End) {
        let waiters: [Waiter?] = locked {
            if end == nil { end = how }
            lock.broadcast()
            defer { (opener, writer) = (nil, nil) }
            return [opener, writer]
        }
        for waiter in waiters { waiter?.resume(returning: false) }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }
}
#endif
