// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainSession
import RefrainTesting

/// A transport that answers first attempts when the test says so, and later ones at once.
final class HeldLoader: HTTPLoader {
    /// A first attempt, which waits for its answer.
    final class Exchange: Sendable {
        let request: HTTPRequest
        fileprivate let result = Promise<HTTPResult>()

        init(_ request: HTTPRequest) { self.request = request }

        func answer(_ status: HTTPStatus, headers: HTTPHeaders = [:], body: String = "ok") {
            let response = HTTPResponse(request: request, status: status, headers: headers, body: .text(body))
            result.fulfill(.success(response))
        }

        fileprivate func cancel() { result.fulfill(.failure(HTTPError(.cancelled, request: request, bytesSent: 90))) }
    }

    private struct State {
        var exchanges: [Exchange] = []
        var loads: [HTTPRequest] = []
        var cancelled = 0
    }

    private let state = Observed(State())
    private let onBegin: @Sendable () -> Void
    private let answer: @Sendable (HTTPRequest) async -> HTTPResult

    /// A transport that calls `onBegin` when a first attempt is handed over, and answers later attempts by `answer`.
    init(
        onBegin: @escaping @Sendable () -> Void = {},
        answer: @escaping @Sendable (HTTPRequest) async -> HTTPResult = {
            .success(HTTPResponse(request: $0, status: 200, body: .text("loaded")))
        }
    ) {
        self.onBegin = onBegin
        self.answer = answer
    }

    /// The first attempts, in order.
    var exchanges: [Exchange] { state.value.exchanges }
    /// Returns when there are so many first attempts.
    func exchanges(atLeast count: Int) async { await state.wait { $0.exchanges.count >= count } }
    /// The later attempts, in order.
    var loads: [HTTPRequest] { state.value.loads }
    /// How many first attempts were cancelled.
    var cancelled: Int { state.value.cancelled }

    func load(_ request: HTTPRequest) async -> HTTPResult {
        guard !NestedRetry.isInside else {
            state.withLock { $0.loads.append(request) }
            return await answer(request)
        }
        let exchange = Exchange(request.withAttemptLimits)
        state.withLock { $0.exchanges.append(exchange) }
        onBegin()
        return await withTaskCancellationHandler {
            await exchange.result.value
        } onCancel: {
            state.withLock { $0.cancelled += 1 }
            exchange.cancel()
        }
    }
}
