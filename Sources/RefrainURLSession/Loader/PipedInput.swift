#if !canImport(Darwin)
internal import Foundation
internal import RefrainHTTP

/// A stream of chunks that are written while it is read, where Foundation has no pair of bound streams.
final class PipedInput: InputStream {
    let handover: ChunkHandover

    init(_ handover: ChunkHandover) {
        self.handover = handover
        super.init(data: Data())
    }

    override func open() { handover.open() }

    override func close() { handover.end(.aborted) }

    override var streamStatus: Stream.Status { handover.isOpen ? .open : .notOpen }

    /// True until the end was read: FoundationNetworking takes false for the end.
    override var hasBytesAvailable: Bool { handover.mayHaveMore }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        handover.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: maxLength))
    }
}

/// Hands chunks from a task to a thread that blocks until there is one.
///
/// FoundationNetworking reads on the queue of all its sessions, which a slow writer holds up for all requests.
final class ChunkHandover: @unchecked Sendable {
    // @unchecked Sendable: all that can change is touched with `lock` held.

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

    /// Waits for bytes; 0 at the end, -1 where the rest will not come.
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

    /// Waits until the stream is opened; false where nobody will.
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

    /// Hands a chunk over, and waits until it was read; false where nobody reads any more.
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
