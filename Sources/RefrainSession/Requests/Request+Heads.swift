public import Dispatch

extension Request {
    /// What follows the head of a response.
    public enum ResponseDisposition: Hashable, Sendable {
        /// The content is received.
        case allow
        /// The request is cancelled, and its content is not received.
        case cancel
    }

    typealias HeadHandler = @Sendable (HTTPResponse) async -> ResponseDisposition

    /// Adds a handler of the head of each attempt's response.
    func addHeadHandler(_ handler: @escaping HeadHandler) {
        state.withLock { $0.addHandler { $0.heads.append(handler) } }
    }

    /// Notes the head of an attempt whose content goes elsewhere.
    func note(head: HTTPResponse) { state.withLock { $0.response = head } }

    /// Calls the handlers of a head in order, until one cancels the request; returns whether the content is wanted.
    func allowsContent(of response: HTTPResponse) async -> Bool {
        let handlers = state.withLock { $0.cold?.handlers.heads ?? [] }
        guard !handlers.isEmpty else { return true }
        let head = response.withoutBody
        for handler in handlers where await handler(head) == .cancel {
            cancel()
            return false
        }
        return true
    }

    /// Calls `handler` with the head of each attempt's response, before the content is received.
    ///
    /// Add it before the request starts. Heads of redirects that are followed are left out, and a request that shares
    /// another one's exchange (``Session/Settings/deduplicate``) receives none.
    ///
    /// - Parameters:
    ///   - queue: where `handler` is called. Defaults to nil: any thread.
    ///   - handler: receives the response without its body. The content waits until it returns.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue? = nil,
        perform handler: @escaping @Sendable (HTTPResponse) -> Void
    ) -> Self {
        addHeadHandler { response in
            guard let queue else {
                handler(response)
                return .allow
            }
            await withCheckedContinuation { continuation in
                queue.async {
                    handler(response)
                    continuation.resume()
                }
            }
            return .allow
        }
        return self
    }

    /// As ``onHTTPResponse(on:perform:)-(_,(HTTPResponse)->Void)``, with a completion that decides on the content.
    ///
    /// The content waits for the completion, of which the first call counts. One that is released without a call
    /// cancels the request.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue? = nil,
        perform handler:
            @escaping @Sendable (
                _ response: HTTPResponse, _ completionHandler: @escaping @Sendable (ResponseDisposition) -> Void
            ) -> Void
    ) -> Self {
        addHeadHandler { response in
            // A completion that is released without a call cancels the request; otherwise the request would never end.
            let answer: ResponseDisposition? = try? await CompletionForm.wait { completion in
                guard let queue else { return handler(response, completion) }
                queue.async { handler(response, completion) }
            }
            return answer ?? .cancel
        }
        return self
    }
}
