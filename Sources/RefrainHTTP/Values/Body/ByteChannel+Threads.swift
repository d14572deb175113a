internal import RefrainCore

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
