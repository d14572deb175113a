internal import RefrainCore
internal import RefrainHTTP

/// Carries the chunks of a stream from the task that pulls them to the loop, a bounded amount at a time.
///
/// Nothing is pulled before libcurl asks for the first byte, so a stream that can be read only once is untouched
/// where the connection could not be made (rule R4).
final class UploadPipe: Sendable {
    /// How much is held before the source has to wait.
    static let capacity = 256 << 10

    let length: Int64?
    private let body: HTTPBody
    private let state = Locked(State())

    private struct State {
        var chunks: [HTTPBody.Chunk] = []
        /// How much of the first chunk is gone.
        var offset = 0
        var held = 0
        var delivered: Int64 = 0
        var end: End?
        var wake: (@Sendable () -> Void)?
        var loopWaits = false
        var feeder: Task<Void, Never>?
        var feederWaits: UnsafeContinuation<Bool, Never>?
        var isClosed = false
    }

    private enum End {
        case complete
        case failed(any Error)
    }

    init(_ body: HTTPBody) {
        self.body = body
        length = body.length
    }

    /// Says how to tell the loop that there is something to read.
    func onData(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    /// Whether all was handed over.
    var isDone: Bool {
        state.withLock { state in
            guard case .complete? = state.end else { return false }
            return state.held == 0
        }
    }

    /// Fills the buffer; 0 at the end, nil where there is nothing as yet.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(UploadFailure) -> Int? {
        startIfNeeded()
        let (count, feeder) = try state.withLock { (state) throws(UploadFailure) in try take(&state, buffer) }
        feeder?.resume(returning: true)
        return count
    }

    private func take(
        _ state: inout State,
        _ buffer: UnsafeMutableRawBufferPointer
    ) throws(UploadFailure) -> (Int?, UnsafeContinuation<Bool, Never>?) {
        if case .failed(let error)? = state.end { throw Self.failure(error) }
        let expected = length ?? .max
        let known = state.delivered + Int64(state.held)
        let isComplete = state.end != nil
        guard known <= expected, !isComplete || length == nil || known == expected else {
            throw UploadFailure(
                code: .invalidRequest,
                message:
                    "the body's length is \(known) bytes\(isComplete ? "" : " or more"), but \(expected) were stated"
            )
        }
        var available = state.held
        // The last byte waits for the end of the stream: a request with a wrong length is never complete.
        if length != nil, !isComplete, known == expected { available -= 1 }
        guard available > 0 else {
            if isComplete { return (0, nil) }
            state.loopWaits = true
            return (nil, nil)
        }
        let wanted = min(available, buffer.count)
        var count = 0
        var finished = 0
        while count < wanted {
            let chunk = state.chunks[finished]
            let piece = min(chunk.count - state.offset, wanted - count)
            chunk.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[state.offset..<state.offset + piece]))
            }
            count += piece
            state.offset += piece
            if state.offset == chunk.count {
                finished += 1
                state.offset = 0
            }
        }
        state.chunks.removeFirst(finished)
        state.held -= count
        state.delivered += Int64(count)
        guard state.held < Self.capacity, let feeder = state.feederWaits else { return (count, nil) }
        state.feederWaits = nil
        return (count, feeder)
    }

    /// Releases the source.
    func close() {
        let (task, feeder) = state.withLock { state in
            state.isClosed = true
            state.wake = nil
            state.chunks = []
            let parts = (state.feeder, state.feederWaits)
            state.feeder = nil
            state.feederWaits = nil
            return parts
        }
        feeder?.resume(returning: false)
        task?.cancel()
    }

    // MARK: The feeding task

    private func startIfNeeded() {
        let mustStart = state.withLock { $0.feeder == nil && $0.end == nil && !$0.isClosed }
        guard mustStart else { return }
        let task = Task { await feed() }
        state.withLock { $0.feeder = task }
    }

    private func feed() async {
        do {
            for try await chunk in body where !chunk.isEmpty {
                guard await push(chunk) else { return }
            }
            finish(.complete)
        } catch {
            finish(.failed(error))
        }
    }

    /// Adds a chunk and waits until there is room for another one; returns false if the reader has ended.
    private func push(_ chunk: HTTPBody.Chunk) async -> Bool {
        await resumption { continuation in
            let (goesOn, wake): (Bool?, (@Sendable () -> Void)?) = state.withLock { state in
                guard !state.isClosed else { return (false, nil) }
                state.chunks.append(chunk)
                state.held += chunk.count
                let wake = state.loopWaits ? state.wake : nil
                state.loopWaits = false
                guard state.held >= Self.capacity else { return (true, wake) }
                state.feederWaits = continuation
                return (nil, wake)
            }
            if let goesOn { continuation.resume(returning: goesOn) }
            wake?()
        }
    }

    private func finish(_ end: End) {
        let wake = state.withLock { state in
            state.end = end
            let wake = state.loopWaits ? state.wake : nil
            state.loopWaits = false
            return wake
        }
        wake?()
    }

    private static func failure(_ error: any Error) -> UploadFailure {
        switch error {
        case let error as LocalFileError:
            UploadFailure(code: error.code, message: "\(error)", underlyingError: error)
        default:
            UploadFailure(
                code: .callerFailed,
                message: "the source of the body failed: \(error)",
                underlyingError: error
            )
        }
    }
}
