extension Request {
    /// The state of a request.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// Made, and not yet started.
        case initialized
        /// Running, or ready to continue.
        case resumed
        /// Suspended: no attempt begins, and no byte of a stream is read.
        case suspended
        /// Cancelled; it ends without a value.
        case cancelled
        /// Ended, with a response or with an error.
        case finished

        /// Whether this state may be followed by the other one.
        ///
        /// Nothing leads back to the beginning; what is cancelled or finished stays so.
        public func canTransition(to other: State) -> Bool {
            switch (self, other) {
            case (_, .initialized), (.cancelled, _), (.finished, _): false
            case (.initialized, _), (_, .cancelled), (_, .finished): true
            case (.resumed, .suspended), (.suspended, .resumed): true
            case (.resumed, .resumed), (.suspended, .suspended): false
            }
        }
    }
}
