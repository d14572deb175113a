// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainHTTP

/// Passes the chunks of a body stream from the task that reads it to the loop, with a bounded buffer.
///
/// Reading begins when libcurl requests the first byte, so a one-shot stream is unread if no connection could be made
/// (rule R4).
final class UploadPipe: Sendable {
    let length: Int64?
    private let body: HTTPBody
    private let channel = ByteChannel()
    private let state = Locked(State())

    private struct State {
        var writer: Task<Void, Never>?
        var failure: UploadFailure?
    }

    init(_ body: HTTPBody) {
        self.body = body
        length = body.length
    }

    /// Sets the closure that is called when there is data for the loop to read.
    func onData(_ wake: @escaping @Sendable () -> Void) { channel.onData(wake) }

    /// Whether the loop has read the whole body.
    var isDone: Bool { channel.isDrained && state.withLock { $0.failure == nil } }

    /// Fills the buffer and returns the number of bytes: 0 at the end, nil if none are available yet.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(UploadFailure) -> Int? {
        try state.withLock { (state) throws(UploadFailure) in
            if let failure = state.failure { throw failure }
            if state.writer == nil, !channel.isClosed { state.writer = Task { await write() } }
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
        // The last byte is held until the stream ends, so that a request of the wrong length is never complete.
        return amounts.written == length && !amounts.isComplete ? amounts.held - 1 : amounts.held
    }

    /// Closes the channel, and cancels the task that reads the source.
    func close() {
        channel.close()
        state.withLock { state in
            defer { state.writer = nil }
            return state.writer
        }?.cancel()
    }

    private func write() async {
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
