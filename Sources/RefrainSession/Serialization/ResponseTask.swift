// SPDX-License-Identifier: Apache-2.0
extension Request {
    /// The future value of a request's response, as `serializingDecodable(_:)` and its siblings return it.
    ///
    /// The request starts when the task is made. Cancelling a task that awaits the value cancels the request, unless
    /// the task was made with `automaticallyCancelling: false`.
    public struct ResponseTask<Value: Sendable>: Sendable {
        private let request: Request
        private let cancelsAutomatically: Bool
        /// Makes the whole response of a request that has ended.
        private let read: @Sendable (RequestOutcome, HTTPRequest?) -> DataResponse<Value, RefrainError>

        init(
            _ request: Request,
            cancelsAutomatically: Bool,
            read: @escaping @Sendable (RequestOutcome, HTTPRequest?) -> DataResponse<Value, RefrainError>
        ) {
            self.request = request
            self.cancelsAutomatically = cancelsAutomatically
            self.read = read
            request.startIfWanted()
        }

        /// Waits for the request to finish, and returns its result with request, response and attempts.
        public var response: DataResponse<Value, RefrainError> {
            get async {
                if !request.hasEnded { await wait() }
                let (outcome, sent) = request.ending
                return read(outcome, sent)
            }
        }

        private func wait() async {
            await withTaskCancellationHandler {
                await request.ended()
            } onCancel: {
                if cancelsAutomatically { request.cancel() }
            }
        }

        /// The value or the error.
        public var result: Result<Value, RefrainError> { get async { await response.result } }

        /// The value.
        ///
        /// - Throws: ``RefrainError``.
        public var value: Value { get async throws(RefrainError) { try await response.result.get() } }

        /// Cancels the request.
        public func cancel() { request.cancel() }
        /// Resumes the request.
        public func resume() { request.resume() }
        /// Suspends the request.
        public func suspend() { request.suspend() }
    }
}
