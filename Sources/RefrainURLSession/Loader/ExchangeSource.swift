internal import RefrainHTTP

/// What the reader of a streamed body does to its exchange; it holds the loader.
final class ExchangeSource: ByteChannel.Source {
    private let exchange: Exchange
    private let loader: URLSessionLoader

    init(_ exchange: Exchange, of loader: URLSessionLoader) {
        self.exchange = exchange
        self.loader = loader
    }

    func resume() { loader.delegate.unpause(exchange) }
    func cancel() { loader.delegate.cancel(exchange) }
    func discard() { loader.delegate.discard(exchange) }
}
