// SPDX-License-Identifier: Apache-2.0
extension Request {
    /// The future value of a request's response, as `serializingDecodable(_:)` and its siblings return it.
    ///
    /// The request starts when the task is made. Cancelling a task that awaits the value cancels the request, unless
    /// the task was made with `automaticallyCancelling: false`.
    public struct ResponseTask<Value: Sendable>: Sendable {
        private let request: Request
        private let cancelsAutomatically: Bool
        private let read: Reader<Value>

        init(_ request: Request, cancelsAutomatically: Bool, read: @escaping Reader<Value>) {
            self.request = request
            self.cancelsAutomatically = cancelsAutomatically
            self.read = read
            request.startIfWanted()
        }

        /// Waits for the request to finish, and returns its result with request, response and attempts.
        public var response: DataResponse<Value, RefrainError> {
            get async {
                await wait()
                return DataResponse(of: request, read)
            }
        }

        /// The value or the error.
        public var result: Result<Value, RefrainError> { get async { await response.result } }

        /// The value.
        ///
        /// - Throws: ``RefrainError``.
        public var value: Value {
            get async throws(RefrainError) {
                await wait()
                return try request.ending.value(read)
            }
        }

        private func wait() async {
            guard !request.hasEnded else { return }
            await withTaskCancellationHandler {
                await request.ended()
            } onCancel: {
                if cancelsAutomatically { request.cancel() }
            }
        }

        /// Cancels the request.
        public func cancel() { request.cancel() }
        /// Resumes the request.
        public func resume() { request.resume() }
        /// Suspends the request.
        public func suspend() { request.suspend() }
    }
}

extension Request {
    /// Reads the value of a request that has ended, or throws its error.
    typealias Reader<Value> = @Sendable (RequestOutcome) throws(RefrainError) -> Value
}

extension Request.Ending {
    /// The value, or the error with all attempts.
    func value<Value>(_ read: Request.Reader<Value>) throws(RefrainError) -> Value {
        do throws(RefrainError) {
            return try read(outcome)
        } catch {
            throw error.recording(outcome.attempts, of: outcome.sent ?? request)
        }
    }
}
