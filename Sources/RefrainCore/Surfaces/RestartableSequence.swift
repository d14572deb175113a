/// A sequence that knows whether it can be started again; any other one is taken to be able to.
///
/// Where it cannot, a second start would fail with an error that says so, after a wait for nothing, and hide the first.
package protocol RestartableSequence {
    /// Whether a second start delivers elements.
    var canStartAgain: Bool { get }
}

/// Whether a sequence can be started again, as far as it knows.
@usableFromInline
func canStartAgain(_ sequence: some AsyncSequence) -> Bool {
    (sequence as? any RestartableSequence)?.canStartAgain ?? true
}
