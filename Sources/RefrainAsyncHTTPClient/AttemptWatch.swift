// SPDX-License-Identifier: Apache-2.0
#if AsyncHTTPClient
internal import NIOCore
internal import RefrainCore
internal import RefrainHTTP

/// Keeps the limits of one attempt, by cancelling what exceeds them: those of the client are for all its requests.
///
/// The client does not report a connection before its use. So its own limit of connecting applies, and the time that
/// the request grants for connecting is added to the first idle time.
final class AttemptWatch: Sendable {
    /// A limit of the request has passed.
    struct LimitPassed: Error, CustomStringConvertible {
        let description: String
    }

    private let clock = RetryClocks.system.timer
    private let idle: Duration?
    /// When the head has to be there, and the whole response.
    private let headEnd: AnyClock.Instant?
    private let end: AnyClock.Instant?
    /// When the exchange last moved; nil while it waits for the source of the request's body.
    private let lastMove: Locked<AnyClock.Instant?>

    /// Begins an attempt with these limits now.
    init(_ limits: Timeout.Limits) {
        let now = clock.now
        func instant(_ limit: Duration?) -> AnyClock.Instant? { limit.map { now.advanced(by: $0.clampedToDelay) } }
        idle = limits.silence
        end = instant(limits.total)
        headEnd = [instant(limits.firstByte), instant(limits.total)].compactMap { $0 }.min()
        lastMove = Locked(now.advanced(by: limits.connect ?? .zero))
    }

    /// The idle time does not run while the exchange waits for the caller.
    func waitsForCaller() { lastMove.withLock { $0 = nil } }

    /// A part of the request's body is there to be sent.
    func moves() {
        let now = clock.now
        lastMove.withLock { $0 = now }
    }

    /// Runs the exchange up to the head of its response.
    func exchange<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard idle != nil || headEnd != nil else { return try await work() }
        let task = Task { try await work() }
        let timer = Task {
            // The engine's loop: looks again when a limit can have passed.
            _ = try await withRetry(clock: clock) { _ in
                timeLeft
            } decide: { _, left in
                left > .zero ? .retry(after: left, .conditionNotMet) : .finish(left, .succeeded)
            }
            guard !Task.isCancelled else { return false }
            task.cancel()
            return true
        }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        timer.cancel()
        let isCut = (try? await timer.value) ?? false
        return try resolve(result, isCut: isCut, "no response within the limits of the request")
    }

    /// Reads a part of the response's body.
    func read<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let left = [idle, end.map { clock.now.duration(to: $0) }].compactMap { $0 }.min()
        guard let left else { return try await work() }
        let limited: @Sendable () async -> Result<Value, any Error> = {
            do { return .success(try await work()) } catch { return .failure(error) }
        }
        let (result, isCut) = await withTimeout(left.clampedToDelay, on: clock, limited)
        return try resolve(result, isCut: isCut, "the body did not go on within the limits of the request")
    }

    /// The time until a limit can have passed; zero or less: one has.
    private var timeLeft: Duration {
        let now = clock.now
        let idleEnd = idle.map { (lastMove.withLock { $0 } ?? now).advanced(by: $0) }
        guard let next = [idleEnd, headEnd].compactMap({ $0 }).min() else { return .longestDelay }
        return now.duration(to: next)
    }

    /// A result that came in spite of the limit counts, and so does a cancellation by the caller.
    private func resolve<Value>(
        _ result: Result<Value, any Error>,
        isCut: Bool,
        _ message: String
    ) throws -> Value {
        if case .failure = result, isCut, !Task.isCancelled { throw LimitPassed(description: message) }
        return try result.get()
    }
}

/// The chunks of a request's body for the client, in pieces whose sending the watch can follow.
struct WatchedChunks: AsyncSequence, Sendable {
    /// The maximum number of bytes of a piece.
    static let pieceSize = 1 << 16

    let body: HTTPBody
    let watch: AttemptWatch

    func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator(), watch: watch) }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: HTTPBody.Iterator
        let watch: AttemptWatch
        private var rest = ByteBuffer()

        init(chunks: HTTPBody.Iterator, watch: AttemptWatch) {
            self.chunks = chunks
            self.watch = watch
        }

        mutating func next() async throws -> ByteBuffer? {
            defer { watch.moves() }
            if rest.readableBytes == 0 {
                watch.waitsForCaller()
                guard let chunk = try await chunks.next() else { return nil }
                rest = ByteBuffer(bytes: chunk)
            }
            return rest.readSlice(length: Swift.min(rest.readableBytes, WatchedChunks.pieceSize))
        }
    }
}
#endif
