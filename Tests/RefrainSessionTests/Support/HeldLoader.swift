import RefrainCore
import RefrainSession

/// A transport that needs no task, and answers when the test says so.
final class HeldLoader: PromptLoader {
    /// A request that it was handed, with the one who waits for the result.
    final class Exchange: Sendable {
        let request: HTTPRequest
        private let held: Locked<(any ResultReceiver)?>

        init(_ request: HTTPRequest, _ receiver: any ResultReceiver) {
            self.request = request
            held = Locked(receiver)
        }

        /// The one who waits, until it has been told: it holds the loader.
        var receiver: (any ResultReceiver)? { held.withLock { $0 } }

        func answer(_ status: HTTPStatus, headers: HTTPHeaders = [:], body: String = "ok") {
            tell(.success(HTTPResponse(request: request, status: status, headers: headers, body: .text(body))))
        }

        func cancel() { tell(.failure(HTTPError(.cancelled, request: request, bytesSent: 90))) }

        private func tell(_ result: HTTPResult) {
            held.withLock { held in
                defer { held = nil }
                return held
            }?
            .receive(result)
        }
    }

    private struct State {
        var exchanges: [Exchange] = []
        var loads: [HTTPRequest] = []
        var cancelled = 0
    }

    private let state = Locked(State())
    private let onBegin: @Sendable () -> Void
    private let answer: @Sendable (HTTPRequest) async -> HTTPResult

    /// A transport that calls `onBegin` before it returns from a request that is handed over, and `answer` for those
    /// that it has to load as any loader does.
    init(
        onBegin: @escaping @Sendable () -> Void = {},
        answer: @escaping @Sendable (HTTPRequest) async -> HTTPResult = {
            .success(HTTPResponse(request: $0, status: 200, body: .text("loaded")))
        }
    ) {
        self.onBegin = onBegin
        self.answer = answer
    }

    /// The requests that were handed over.
    var exchanges: [Exchange] { state.withLock { $0.exchanges } }
    /// The requests that were loaded.
    var loads: [HTTPRequest] { state.withLock { $0.loads } }
    /// How many exchanges were cancelled.
    var cancelled: Int { state.withLock { $0.cancelled } }

    func begin(_ request: HTTPRequest, for receiver: any ResultReceiver) -> AnyObject? {
        let exchange = Exchange(request, receiver)
        state.withLock { $0.exchanges.append(exchange) }
        onBegin()
        return exchange
    }

    func cancel(_ exchange: AnyObject) {
        state.withLock { $0.cancelled += 1 }
        (exchange as? Exchange)?.cancel()
    }

    func load(_ request: HTTPRequest) async -> HTTPResult {
        state.withLock { $0.loads.append(request) }
        return await answer(request)
    }
}
