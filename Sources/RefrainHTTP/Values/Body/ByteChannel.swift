// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// Carries bytes from one writer to one reader, a bounded amount at a time.
///
/// Each of them is either a task, which waits, or a thread that serves others too, which is called back instead: a
/// transport writes the bodies of responses as a thread, and reads those of requests as one.
package final class ByteChannel: Sendable {
    /// The size at which what a thread writes is cut into chunks; at most the difference of the two limits.
    private static let chunkSize = 64 << 10

    /// The writer has to wait when this much is held.
    private let highWater: Int
    /// It goes on when no more than this is held.
    private let lowWater: Int
    private let state = Locked(State())

    /// Makes a channel that holds up to 256 KB and one piece more.
    ///
    /// - Parameters:
    ///   - highWater: at how many held bytes the writer has to wait.
    ///   - lowWater: at how many it goes on.
    package init(highWater: Int = 256 << 10, lowWater: Int = 64 << 10) {
        self.highWater = highWater
        self.lowWater = lowWater
    }

    /// Ends the bytes, with or without an error; what is held can still be read.
    package func finish(_ error: HTTPError? = nil) {
        let end = error.map { Result<Void, HTTPError>.failure($0) } ?? .success(())
        let (wakeup, reader) = state.withLock { state -> (Wakeup, Reader?) in
            if state.end == nil { state.end = end }
            state.consumer = nil
            return (state.takeWakeup(), state.takeReader())
        }
        wakeup.carryOut()
        reader?.resume(returning: end.map { nil })
    }

    /// Drops what is held, and takes no more: there is no reader any longer.
    package func close() {
        let writer = state.withLock { state in
            state.drop()
            state.isClosed = true
            state.onData = nil
            return state.takeWriter()
        }
        writer?.resume(returning: false)
    }

    /// Whether ``close()`` was called.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether everything was written and read.
    package var isDrained: Bool { state.withLock { $0.end != nil && $0.held == 0 } }
}

extension ByteChannel {
    /// How the reader is woken, if it waits; carried out without the lock.
    private struct Wakeup {
        var delivery: (to: Reader, chunk: HTTPBody.Chunk)?
        var onData: (@Sendable () -> Void)?

        func carryOut() {
            if let delivery { delivery.to.resume(returning: .success(delivery.chunk)) }
            onData?()
        }
    }

    private typealias Reader = UnsafeContinuation<Result<HTTPBody.Chunk?, HTTPError>, Never>
    private typealias Writer = UnsafeContinuation<Bool, Never>

    private struct State {
        private var chunks: [HTTPBody.Chunk] = []
        private var first = 0
        /// How much of the first chunk was read.
        private var offset = 0
        /// How many bytes can be read.
        private(set) var held = 0
        /// How many bytes were written in all.
        private(set) var written = 0
        var end: Result<Void, HTTPError>?
        var isClosed = false
        /// A task that waits for bytes.
        var reader: Reader?
        /// Whether the thread that writes is about to wake it.
        var readerIsNoted = false
        /// Takes what a thread writes instead of the chunks.
        var consumer: ChunkSource.ByteConsumer?
        /// Tells the thread that reads of bytes, if it waits for any.
        var onData: (@Sendable () -> Void)?
        var readerIsToldOfData = false
        /// A task that waits for room.
        var writer: Writer?
        /// Whether the writing thread must be notified of room.
        var sourceWaits = false

        /// Adds a chunk.
        mutating func add(_ chunk: HTTPBody.Chunk) {
            held += chunk.count
            written += chunk.count
            chunks.append(chunk)
        }

        /// Adds a piece to the last chunk, or begins one with it.
        mutating func add(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) {
            held += bytes.count
            written += bytes.count
            if !isFirst, let last = chunks.indices.last, last >= first {
                chunks[last].append(contentsOf: bytes)
                return
            }
            var chunk = HTTPBody.Chunk()
            // Where much comes at a time, more is on its way.
            chunk.reserveCapacity(bytes.count < chunkSize / 4 ? bytes.count : chunkSize)
            chunk.append(contentsOf: bytes)
            chunks.append(chunk)
        }

        /// Takes the first chunk.
        mutating func popFirst() -> HTTPBody.Chunk? {
            guard first < chunks.count else { return nil }
            let chunk = chunks[first]
            removeFirst()
            held -= chunk.count
            return chunk
        }

        /// Moves bytes into a buffer that has room for them, `count` of those that are held.
        mutating func move(_ count: Int, to buffer: UnsafeMutableRawBufferPointer) {
            var moved = 0
            while moved < count {
                let piece = min(chunks[first].count - offset, count - moved)
                chunks[first].withUnsafeBytes { bytes in
                    UnsafeMutableRawBufferPointer(rebasing: buffer[moved...])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + piece]))
                }
                moved += piece
                offset += piece
                if offset == chunks[first].count { removeFirst() }
            }
            held -= count
        }

        /// Drops what is held.
        mutating func drop() {
            chunks = []
            (first, offset, held) = (0, 0, 0)
        }

        private mutating func removeFirst() {
            chunks[first] = []
            first += 1
            offset = 0
            guard first == chunks.count else { return }
            chunks.removeAll(keepingCapacity: true)
            first = 0
        }

        /// Wakes the reader for the bytes that have come.
        mutating func takeWakeup() -> Wakeup {
            var wakeup = Wakeup()
            if reader != nil, let chunk = popFirst() { wakeup.delivery = takeReader().map { ($0, chunk) } }
            if readerIsToldOfData { (wakeup.onData, readerIsToldOfData) = (onData, false) }
            return wakeup
        }

        mutating func takeReader() -> Reader? {
            defer { reader = nil }
            return reader
        }

        mutating func takeWriter() -> Writer? {
            defer { writer = nil }
            return writer
        }

        /// Whether the writing thread waits for room, and will be notified.
        mutating func takeSource() -> Bool {
            defer { sourceWaits = false }
            return sourceWaits
        }
    }
}

// The sides of tasks, which wait.

extension ByteChannel {
    // MARK: A task that writes

    /// Writes a chunk, and waits until there is room for another one.
    ///
    /// - Returns: false if there is no reader any longer, or the task is cancelled.
    package func send(_ chunk: HTTPBody.Chunk) async -> Bool {
        await withTaskCancellationHandler {
            await resumption { (continuation: Writer) in
                let (wakeup, goesOn) = state.withLock { state -> (Wakeup, Bool?) in
                    guard !state.isClosed, state.end == nil, !Task.isCancelled else { return (Wakeup(), false) }
                    state.add(chunk)
                    let wakeup = state.takeWakeup()
                    guard state.held >= highWater else { return (wakeup, true) }
                    state.writer = continuation
                    return (wakeup, nil)
                }
                wakeup.carryOut()
                if let goesOn { continuation.resume(returning: goesOn) }
            }
        } onCancel: {
            state.withLock { $0.takeWriter() }?.resume(returning: false)
        }
    }

    // MARK: A task that reads

    /// The next chunk, or nil at the end, where that is known already; `resume` is called where the thread that writes
    /// waits for room.
    package func ready(resume: () -> Void = {}) -> Result<HTTPBody.Chunk?, HTTPError>? {
        let taken = state.withLock { takeReady(&$0) }
        taken.tellWriter(resume)
        return taken.result
    }

    /// The next chunk, nil at the end; `resume` is called where the thread that writes waits for room.
    package func next(resume: () -> Void = {}) async throws(HTTPError) -> HTTPBody.Chunk? {
        let result = await resumption { (continuation: Reader) in
            let taken = state.withLock { state in
                let taken = takeReady(&state)
                if taken.result == nil { state.reader = continuation }
                return taken
            }
            taken.tellWriter(resume)
            if let result = taken.result { continuation.resume(returning: result) }
        }
        return try result.get()
    }

    /// The next chunk, as ``next(resume:)``; `onCancel`, called where the task is cancelled, has to end the bytes.
    package func next(
        resume: () -> Void = {},
        onCancel: @Sendable () -> Void
    ) async throws(HTTPError) -> HTTPBody.Chunk? {
        // What has arrived needs neither a wait nor a handler that would end one.
        if !Task.isCancelled, let ready = ready(resume: resume) { return try ready.get() }
        let result: Result<HTTPBody.Chunk?, HTTPError> = await withTaskCancellationHandler {
            do throws(HTTPError) { return .success(try await next(resume: resume)) } catch { return .failure(error) }
        } onCancel: {
            onCancel()
        }
        return try result.get()
    }

    /// Gives everything to a consumer: first what is held, here, and then what arrives, on the thread that writes.
    ///
    /// - Returns: at the end, or when the consumer has taken a piece of what was held no longer.
    package func drain(_ consumer: @escaping ChunkSource.ByteConsumer, resume: () -> Void) async throws(HTTPError) {
        while true {
            let result = await resumption { (continuation: Reader) in
                let (ready, mustResume) = state.withLock { state -> (Result<HTTPBody.Chunk?, HTTPError>?, Bool) in
                    if let chunk = state.popFirst() { return (.success(chunk), false) }
                    if let end = state.end { return (end.map { nil }, false) }
                    (state.reader, state.consumer) = (continuation, consumer)
                    return (nil, state.takeSource())
                }
                if mustResume { resume() }
                if let ready { continuation.resume(returning: ready) }
            }
            guard let chunk = try result.get(), chunk.withUnsafeBytes(consumer) else { return }
        }
    }

    /// What a reader gets without waiting, if anything, and the writer that may go on.
    private struct Taken {
        var result: Result<HTTPBody.Chunk?, HTTPError>?
        var mustResume = false
        var writer: Writer?

        func tellWriter(_ resume: () -> Void) {
            if mustResume { resume() }
            writer?.resume(returning: true)
        }
    }

    private func takeReady(_ state: inout State) -> Taken {
        guard let chunk = state.popFirst() else { return Taken(result: state.end.map { $0.map { nil } }) }
        guard state.held <= lowWater else { return Taken(result: .success(chunk)) }
        return Taken(result: .success(chunk), mustResume: state.takeSource(), writer: state.takeWriter())
    }
}

// The sides of threads that serve others too: nothing here waits.

extension ByteChannel {
    // MARK: A thread that writes

    /// Whether more may be appended; if not, the source is resumed when it may.
    package var hasRoom: Bool {
        state.withLock { state in
            if state.held < highWater { return true }
            state.sourceWaits = true
            return false
        }
    }

    /// Gives a piece to the reader's consumer: whether it has taken the piece, or nil where there is no consumer.
    package func consume(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        state.withLock { $0.consumer }.map { $0(bytes) }
    }

    /// Takes a piece; true where a reader waits, which ``wakeReader()`` then wakes.
    ///
    /// Not at once: mostly more pieces follow soon, and it would be woken for each of them.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            var rest = bytes[...]
            while !rest.isEmpty {
                // A chunk ends at a multiple of its size: whole pages of a file are written at twice the speed.
                let space = Self.chunkSize - state.written % Self.chunkSize
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(space))
                rest = rest.dropFirst(space)
                state.add(piece, isFirst: space == Self.chunkSize)
            }
            guard state.reader != nil || state.readerIsToldOfData, !state.readerIsNoted else { return false }
            state.readerIsNoted = true
            return true
        }
    }

    /// Hands the first chunk to the task that waits for it, or tells the thread that reads.
    ///
    /// The writer need not go on for that: if it had to stop, more than one chunk is held.
    package func wakeReader() {
        let wakeup = state.withLock { state -> Wakeup in
            state.readerIsNoted = false
            return state.takeWakeup()
        }
        wakeup.carryOut()
    }

    // MARK: A thread that reads

    /// Sets what notifies the reading thread of bytes, or of the end.
    package func onData(_ tell: @escaping @Sendable () -> Void) { state.withLock { $0.onData = tell } }

    /// How many bytes have come.
    package struct Amounts {
        /// Those that can be read.
        package let held: Int
        /// All of them.
        package let written: Int
        /// Whether these are all that there will be.
        package let isComplete: Bool
    }

    /// Fills a buffer.
    ///
    /// - Parameter limit: how many of the held bytes may be taken; what it throws is thrown.
    /// - Returns: how many there were; 0 at the end, nil where none may be taken as yet: `onData` tells of more.
    package func read<Failure>(
        into buffer: UnsafeMutableRawBufferPointer,
        limit: (Amounts) throws(Failure) -> Int
    ) throws(Failure) -> Int? {
        let (count, writer) = try state.withLock { (state) throws(Failure) -> (Int?, Writer?) in
            let isComplete = state.end != nil
            let allowed = try limit(Amounts(held: state.held, written: state.written, isComplete: isComplete))
            let count = min(allowed, state.held, buffer.count)
            guard count > 0 else {
                if isComplete { return (0, nil) }
                state.readerIsToldOfData = true
                return (nil, nil)
            }
            state.move(count, to: buffer)
            return (count, state.held <= lowWater ? state.takeWriter() : nil)
        }
        writer?.resume(returning: true)
        return count
    }
}
