internal import RefrainCore

/// Hands chunks from one producer to one consumer, one at a time: the producer waits until each is taken.
final class ChunkChannel: Sendable {
    private struct State {
        var chunk: [UInt8]?
        var end: Result<Void, RefrainError>?
        var producer: CheckedContinuation<Void, Never>?
        var consumer: CheckedContinuation<Void, Never>?
        var isClaimed = false
        var isAbandoned = false
    }

    private let state = Locked(State())

    /// Whether the consumer has left.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// The failure that it has ended with.
    var failure: RefrainError? {
        state.withLock { state in
            guard case .failure(let error)? = state.end else { return nil }
            return error
        }
    }

    /// Claims the channel for a consumer; returns false after the first call.
    func claim() -> Bool {
        state.withLock { state in
            defer { state.isClaimed = true }
            return !state.isClaimed
        }
    }

    /// Offers a chunk, and returns when it is taken, the consumer has left, or the task is cancelled.
    func send(_ chunk: [UInt8]) async {
        let consumer = state.withLock { state in
            state.chunk = chunk
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isTaken = state.withLock { state in
                    guard state.chunk != nil, !state.isAbandoned, !Task.isCancelled else { return true }
                    state.producer = continuation
                    return false
                }
                if isTaken { continuation.resume() }
            }
        } onCancel: {
            releaseProducer()
        }
    }

    /// Ends the stream.
    ///
    /// A failure discards a chunk that was not read yet.
    func finish(_ end: Result<Void, RefrainError>) {
        let consumer = state.withLock { state in
            if state.end == nil { state.end = end }
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume()
    }

    /// Takes the next chunk; nil at the end.
    func next() async throws(RefrainError) -> [UInt8]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard state.chunk == nil, state.end == nil, !Task.isCancelled else { return true }
                    state.consumer = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { state in
                defer { state.consumer = nil }
                return state.consumer
            }?.resume()
        }
        let (chunk, end, producer) = state.withLock { state in
            defer {
                state.chunk = nil
                state.producer = nil
            }
            return (state.chunk, state.end, state.producer)
        }
        producer?.resume()
        if case .failure(let error)? = end { throw error }
        if let chunk { return chunk }
        if end == nil { throw .explicitlyCancelled }
        return nil
    }

    /// The consumer leaves.
    func abandon() {
        state.withLock { $0.isAbandoned = true }
        releaseProducer()
    }

    private func releaseProducer() {
        state.withLock { state in
            defer { state.producer = nil }
            return state.producer
        }?.resume()
    }
}
