internal import RefrainCore

extension ByteChannel {
    /// What the reader of a response's body does to the exchange that it comes from.
    package protocol Source: AnyObject, Sendable {
        /// Goes on: there is room again.
        func resume()
        /// Ends the exchange: the task of the reader was cancelled.
        func cancel()
        /// Ends the exchange: the body will not be read.
        func discard()
    }

    /// The body that its reader gets; deallocating it discards the rest.
    package func body(length: Int64?, from source: any Source) -> HTTPBody {
        let reader = BodyReader(channel: self, source: source)
        let chunks = ChunkSource({ try await reader.next() }, drain: { try await reader.drain($0) })
        return HTTPBody(.oneShot(OneShotSource(length: length, chunks)))
    }
}

/// Reads a response's body.
///
/// It holds the source, and with it the transport, which must outlive a streamed body.
private final class BodyReader: Sendable {
    private let channel: ByteChannel
    private let source: any ByteChannel.Source

    init(channel: ByteChannel, source: any ByteChannel.Source) {
        self.channel = channel
        self.source = source
    }

    deinit { source.discard() }

    func next() async throws(HTTPError) -> HTTPBody.Chunk? {
        try await channel.next(resume: { source.resume() }, onCancel: { source.cancel() })
    }

    func drain(_ consumer: @escaping ChunkSource.ByteConsumer) async throws(HTTPError) {
        let result: Result<Void, HTTPError> = await withTaskCancellationHandler {
            do throws(HTTPError) {
                return .success(try await channel.drain(consumer) { source.resume() })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            source.cancel()
        }
        try result.get()
    }
}
