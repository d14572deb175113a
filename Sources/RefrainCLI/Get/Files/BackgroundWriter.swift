// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Appends to a file on a separate thread, so that more can be received meanwhile.
///
/// One thread at a time appends. What was appended is written in its order, in large pieces; nothing is known to be in
/// the file before ``finish()`` returns.
final class BackgroundWriter: @unchecked Sendable {
    // @unchecked Sendable: the state has its lock; the other variables are touched only by the thread that appends.

    /// How many bytes are written at a time.
    ///
    /// For each piece the other thread may have to be woken.
    private static let pieceSize = 512 << 10
    /// The maximum number of pieces: one that is filled, one that is written, and a reserve for the time that one of
    /// the threads waits for a processor.
    private static let maximumPieces = 6
    /// A piece that is not full is written, too, when more comes after this time: `kill -9` loses what is not written.
    static let longestDelay = Duration.milliseconds(20)

    private struct State {
        var full: [Piece] = []
        var free: [Piece] = []
        var isOver = false
        /// The system's number of the first write that failed; nothing is written after it.
        var failure: Int32?
    }

    private struct Piece {
        let bytes: UnsafeMutableRawBufferPointer
        var count = 0

        init() { bytes = .allocate(byteCount: BackgroundWriter.pieceSize, alignment: 4096) }
    }

    private let descriptor: Int32
    private let longestDelay: Duration
    // At most one of the two threads waits: the pieces are all full, or all empty.
    private let state = ConditionLock(State())
    private var filling: Piece?
    private var pieces = 0
    private var lastHandOver = ContinuousClock.now
    private var thread: pthread_t?

    /// Begins to write at the position of a file that stays open until ``finish()`` has returned; nil where the system
    /// gives no thread.
    init?(_ descriptor: Int32, longestDelay: Duration = longestDelay) {
        self.descriptor = descriptor
        self.longestDelay = longestDelay
        var thread = pthread_t(bitPattern: 0)
        let retained = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread,
            nil,
            { pointer in
                if let pointer { Unmanaged<BackgroundWriter>.fromOpaque(pointer).takeRetainedValue().run() }
                return nil
            },
            retained.toOpaque()
        )
        guard code == 0 else {
            retained.release()
            return nil
        }
        self.thread = thread
    }

    deinit {
        for piece in state.withLock({ $0.full + $0.free }) { piece.bytes.deallocate() }
        filling?.bytes.deallocate()
    }

    /// Appends bytes; waits if all pieces are full.
    ///
    /// - Returns: the system's number where an earlier write has failed.
    func append(_ bytes: UnsafeRawBufferPointer) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            var piece: Piece
            switch filling {
            case let begun?: piece = begun
            case nil:
                if let failure = take(&filling) { return failure }
                continue
            }
            let part = rest.prefix(piece.bytes.count - piece.count)
            UnsafeMutableRawBufferPointer(rebasing: piece.bytes[piece.count...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
            piece.count += part.count
            rest = rest.dropFirst(part.count)
            filling = piece
            if piece.count == piece.bytes.count { handOver() }
        }
        if filling != nil, lastHandOver.duration(to: .now) >= longestDelay { handOver() }
        return nil
    }

    /// Writes all that was appended, and ends.
    ///
    /// - Returns: the system's number where a write has failed.
    func finish() -> Int32? {
        if filling?.count ?? 0 > 0 { handOver() }
        state.withLock { $0.isOver = true }
        state.signal()
        if let thread { pthread_join(thread, nil) }
        thread = nil
        return state.withLock { $0.failure }
    }

    /// Waits for an empty piece.
    private func take(_ piece: inout Piece?) -> Int32? {
        if pieces < Self.maximumPieces {
            pieces += 1
            piece = Piece()
            return nil
        }
        state.wait(after: { _ in }, until: { !$0.free.isEmpty || $0.failure != nil })
        return state.withLock { state in
            if state.failure == nil { piece = state.free.popLast() }
            return state.failure
        }
    }

    private func handOver() {
        guard let piece = filling else { return }
        filling = nil
        lastHandOver = .now
        state.withLock { $0.full.append(piece) }
        state.signal()
    }

    /// Writes piece by piece, until all are written and no more will come.
    private func run() {
        while let piece = next() {
            let isWritten = systemWriteAll(descriptor, UnsafeRawBufferPointer(rebasing: piece.bytes[..<piece.count]))
            let failure = isWritten ? nil : errno
            state.withLock { state in
                var empty = piece
                empty.count = 0
                state.free.append(empty)
                state.failure = failure
            }
            state.signal()
        }
    }

    private func next() -> Piece? {
        state.wait(after: { _ in }, until: { !$0.full.isEmpty || $0.isOver })
        return state.withLock { state in
            state.failure == nil && !state.full.isEmpty ? state.full.removeFirst() : nil
        }
    }
}
