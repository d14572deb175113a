#if AsyncHTTPClient
internal import NIOCore
internal import RefrainHTTP

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
