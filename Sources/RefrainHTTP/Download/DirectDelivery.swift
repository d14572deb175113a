// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// A sink that takes large bodies on the thread of the transport, without a copy and without a change of threads.
///
/// Bodies of less than 1 MiB, bodies of unknown length, and those of transports that do not support it come in chunks,
/// as for any other sink. The transport waits while the sink writes, so the sink must not block for long.
public protocol DirectSink: Download.Sink {
    /// Whether it takes this download so; read when the response's head has arrived.
    var takesDirectly: Bool { get }
    /// Appends bytes, which are valid during the call; an error ends the attempt.
    func append(_ bytes: UnsafeRawBufferPointer) throws
}

/// The body has more bytes than the `Content-Range` of the response allows.
struct LongerThanItsRange: Error {}

/// Writes a large body into a ``DirectSink`` as it arrives.
final class DirectDelivery: Sendable {
    /// Below this length a body mostly is there as a whole when the response is.
    private static let minimumLength: Int64 = 1 << 20

    private let source: OneShotSource
    private let sink: any DirectSink
    private let response: HTTPResponse
    private let download: Download
    private let length: Int64?
    /// The bytes that the sink held before.
    private let start: Int64
    /// The largest size that is accepted; nil: any.
    private let limit: Int64?
    private let state = Locked(State())

    private struct State {
        var received: Int64 = 0
        var failure: (any Error)?
    }

    private init(
        _ source: OneShotSource,
        _ sink: any DirectSink,
        _ response: HTTPResponse,
        _ download: Download,
        _ length: Int64?
    ) {
        self.source = source
        self.sink = sink
        self.response = response
        self.download = download
        self.length = length
        // Read once, not for each of the many pieces.
        start = download.bytesReceived
        limit = response.request.maximumBodySize.map(Int64.init)
    }

    /// Prepares to deliver a body; nil where it has to be read in chunks.
    static func prepare(_ response: HTTPResponse, to download: Download, atMost length: Int64?) -> DirectDelivery? {
        guard case .oneShot(let source) = response.body.storage, source.length ?? 0 >= minimumLength,
            source.canBeDrained, let sink = download.sink as? any DirectSink, sink.takesDirectly
        else { return nil }
        return DirectDelivery(source, sink, response, download, length)
    }

    /// How many bytes have arrived.
    var received: Int64 { state.withLock { $0.received } }

    /// Delivers the body.
    ///
    /// - Throws: the error of the sink, or that of the transport.
    func run() async throws {
        do {
            try await source.drain { self.take($0) }
        } catch {
            throw state.withLock { $0.failure } ?? error
        }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Takes a piece; false ends the exchange.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let received = state.withLock { state in
            state.received += Int64(bytes.count)
            return state.received
        }
        do {
            if let length, received > length { throw LongerThanItsRange() }
            let size = start + received
            if let limit, size > limit, let tooLarge = response.refusal(ofDownloadOf: size) { throw tooLarge }
            do {
                try sink.append(bytes)
            } catch {
                download.current.isIntact = false
                throw error
            }
            download.note(bytesReceived: size)
            return true
        } catch {
            state.withLock { $0.failure = error }
            return false
        }
    }
}

extension HTTPResponse {
    /// Why a download of so many bytes is refused; nil where it is not.
    func refusal(ofDownloadOf size: Int64) -> HTTPError? {
        guard let limit = request.maximumBodySize, size > Int64(limit) else { return nil }
        return HTTPError(
            .dataLengthExceedsMaximum,
            request: request,
            message: "the body is larger than \(limit) bytes",
            bytesSent: exchange.bytesSent
        )
    }
}
