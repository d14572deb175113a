extension Request {
    /// How far a transfer has come.
    public struct TransferProgress: Hashable, Sendable {
        /// The number of bytes transferred in this attempt.
        public var completed: Int64
        /// The total number of bytes; nil if unknown.
        public var total: Int64?

        /// Describes a moment of a transfer.
        public init(completed: Int64, total: Int64?) {
            self.completed = completed
            self.total = total
        }

        /// The completed fraction, 0 … 1; nil if the total is unknown.
        ///
        /// It is 1 if there is nothing to transfer.
        public var fractionCompleted: Double? {
            guard let total else { return nil }
            return total > 0 ? min(1, Double(completed) / Double(total)) : 1
        }
    }
}
