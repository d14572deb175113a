/// How far a transfer has come.
public struct TransferProgress: Hashable, Sendable {
    /// The bytes that have gone or come so far, in this try.
    public var completed: Int64
    /// The bytes that there will be; nil where that is unknown.
    public var total: Int64?

    /// Describes a moment of a transfer.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// The part that is done, 0 … 1; nil where the total is unknown.
    ///
    /// Nothing to transfer counts as done.
    public var fractionCompleted: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }
}
