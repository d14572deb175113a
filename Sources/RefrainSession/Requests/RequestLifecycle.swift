extension Request {
    /// Where a request stands in its life.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// Made, and not yet started.
        case initialized
        /// Under way, or ready to go on.
        case resumed
        /// Held: no try begins, and no byte is taken from a stream.
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
