internal import RefrainHTTP

/// What the reader of a streamed body does to its transfer; it holds the loader, whose loop ends with it.
final class TransferSource: ByteChannel.Source {
    private let transfer: Transfer
    private let loader: CurlLoader

    init(_ transfer: Transfer, of loader: CurlLoader) {
        self.transfer = transfer
        self.loader = loader
    }

    func resume() { loader.loop.post(.resume(transfer)) }
    func cancel() { loader.loop.cancel(transfer) }
    func discard() { loader.loop.post(.discard(transfer)) }
}
