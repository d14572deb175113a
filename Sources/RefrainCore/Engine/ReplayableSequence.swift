/// A sequence that knows whether it can be iterated again.
///
/// Any other sequence is assumed to be replayable.
///
/// Iterating a one-shot sequence again would fail after a delay, and hide the first error.
package protocol ReplayableSequence {
    /// Whether a further iteration delivers elements.
    var canReplay: Bool { get }
}

/// Returns whether a sequence can be iterated again, as far as it tells.
@usableFromInline
func canReplay(_ sequence: some AsyncSequence) -> Bool {
    (sequence as? any ReplayableSequence)?.canReplay ?? true
}
