extension Request {
    /// The future value of a request's response, as `serializingDecodable(_:)` and its siblings return it.
    ///
    /// The request starts when the task is made. Cancelling a task that awaits the value cancels the request, unless
    /// the task was made with `automaticallyCancelling: false`.
    public struct ResponseTask<Value: Sendable>: Sendable {
        // One reference, because each waiting task stores it in its frame.
        private let reading: Reading

        private final class Reading: RequestEnd, @unchecked Sendable {
            // @unchecked Sendable: all properties are immutable and Sendable.

            // Makes the whole response, so that its types are resolved where they are statically known.
            let read: @Sendable (consuming RequestOutcome, consuming HTTPRequest?) -> DataResponse<Value, RefrainError>

            init(
                _ request: Request,
                _ cancelsAutomatically: Bool,
                _ read:
                    @escaping @Sendable (consuming RequestOutcome, consuming HTTPRequest?) -> DataResponse<
                        Value, RefrainError
                    >
            ) {
                self.read = read
                super.init(of: request, cancelsAutomatically)
            }

            // A separate function, so that the frame of a waiting task has no room for its variables.
            @inline(never)
            func responseAtEnd() -> DataResponse<Value, RefrainError> {
                let (outcome, sent) = request.ending
                return read(outcome, sent)
            }
        }

        init(
            _ request: Request,
            cancelsAutomatically: Bool,
            read:
                @escaping @Sendable (consuming RequestOutcome, consuming HTTPRequest?) -> DataResponse<
                    Value, RefrainError
                >
        ) {
            reading = Reading(request, cancelsAutomatically, read)
            request.startIfWanted()
        }

        /// Waits for the request to finish, and returns its result with request, response and attempts.
        public var response: DataResponse<Value, RefrainError> {
            get async {
                let reading = reading
                if !reading.request.hasEnded { await reading.wait() }
                return reading.responseAtEnd()
            }
        }

        /// The value or the error.
        public var result: Result<Value, RefrainError> { get async { await response.result } }

        /// The value.
        ///
        /// - Throws: ``RefrainError``.
        public var value: Value { get async throws(RefrainError) { try await response.result.get() } }

        /// Cancels the request.
        public func cancel() { reading.request.cancel() }
        /// Resumes the request.
        public func resume() { reading.request.resume() }
        /// Suspends the request.
        public func suspend() { reading.request.suspend() }
    }
}

/// The end of a request, for a task that waits for it.
///
/// Not generic, so that the frames of the waiting task have no room for types.
class RequestEnd: @unchecked Sendable {
    // @unchecked Sendable: all properties are immutable and Sendable, and so are those of its subclass.
    final let request: Request
    private final let cancelsAutomatically: Bool

    init(of request: Request, _ cancelsAutomatically: Bool) {
        self.request = request
        self.cancelsAutomatically = cancelsAutomatically
    }

    @inline(never)
    private final func hold(_ waiter: UnsafeContinuation<CallerExecutor.Job?, Never>) { request.wait(waiter) }

    @inline(__always)
    final func wait() async {
        await withTaskCancellationHandler {
            while let job = await withUnsafeContinuation({ hold($0) }) {
                job.run()
                // Most requests end with their first job after the response.
                if request.hasEnded { break }
            }
        } onCancel: {
            if cancelsAutomatically { request.cancel() }
        }
    }
}
