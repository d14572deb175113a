internal import RefrainCore
internal import RefrainHTTP

/// Carries the chunks of a stream from the task that pulls them to the loop, a bounded amount at a time.
///
/// Nothing is pulled before libcurl asks for the first byte, so a stream that can be read only once is untouched
/// where the connection could not be made (rule R4).
final class UploadPipe: Sendable {
    let length: Int64?
    private let body: HTTPBody
    private let channel = ByteChannel()
    private let state = Locked(State())

    private struct State {
        var feeder: Task<Void, Never>?
        var failure: UploadFailure?
    }

    init(_ body: HTTPBody) {
        self.body = body
        length = body.length
    }

    /// Says how to tell the loop that there is something to read.
    func onData(_ wake: @escaping @Sendable () -> Void) { channel.onData(wake) }

    /// Whether all was handed over.
    var isDone: Bool { channel.isDrained && state.withLock { $0.failure == nil } }

    /// Fills the buffer; 0 at the end, nil where there is nothing as yet.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(UploadFailure) -> Int? {
        try state.withLock { (state) throws(UploadFailure) in
            if let failure = state.failure { throw failure }
            if state.feeder == nil, !channel.isClosed { state.feeder = Task { await feed() } }
        }
        return try channel.read(into: buffer) { (amounts) throws(UploadFailure) in try readable(amounts) }
    }

    private func readable(_ amounts: ByteChannel.Amounts) throws(UploadFailure) -> Int {
        guard let length else { return amounts.held }
        guard amounts.written <= length, !amounts.isComplete || amounts.written == length else {
            throw UploadFailure(
                code: .invalidRequest,
                message: """
                    the body's length is \(amounts.written) bytes\(amounts.isComplete ? "" : " or more"), \
                    but \(length) were stated
                    """
            )
        }
        // The last byte waits for the end of the stream: a request with a wrong length is never complete.
        return amounts.written == length && !amounts.isComplete ? amounts.held - 1 : amounts.held
    }

    /// Releases the source.
    func close() {
        channel.close()
        state.withLock { state in
            defer { state.feeder = nil }
            return state.feeder
        }?.cancel()
    }

    private func feed() async {
        do {
            for try await chunk in body where !chunk.isEmpty {
                guard await channel.send(chunk) else { return }
            }
        } catch {
            state.withLock { $0.failure = Self.failure(error) }
        }
        channel.finish()
    }

    private static func failure(_ error: any Error) -> UploadFailure {
        switch error {
        case let error as HTTPBody.FileError:
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
