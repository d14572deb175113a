internal import Synchronization

/// An error that knows whether a retry loop has already spent its tries on it.
///
/// Retries must not multiply: three tries around three tries are nine requests. So a loop of this package that gives
/// up marks its error, and the loops around it hand a marked error on (rule R24).
public protocol ExhaustibleError: Error {
    /// Whether a loop further in has used up its tries, its budget or its time on this failure.
    var retriesAreExhausted: Bool { get }
}

/// Whether an error may be tried again at all, whatever a predicate says.
///
/// Cancellation is not a failure, and is never retried. An error that is marked as exhausted is retried
/// only where the caller asks for it.
@usableFromInline
func refusal(toRetry error: any Error, includingExhausted: Bool) -> RetryReason? {
    let kind = type(of: error)
    let identity = UInt(bitPattern: ObjectIdentifier(kind))
    if lastPlainErrorType.load(ordering: .relaxed) == identity { return nil }
    if error is CancellationError { return .cancelled }
    guard let exhaustible = error as? any ExhaustibleError else {
        // A class can stand for an error of another type, as NSError does: only of values the type says it all.
        if !(kind is AnyClass) { lastPlainErrorType.store(identity, ordering: .relaxed) }
        return nil
    }
    return !includingExhausted && exhaustible.retriesAreExhausted ? .exhaustedWithin : nil
}

/// The type of the last error that was neither a cancellation nor exhaustible.
///
/// To ask an error for its protocols costs more than all the rest of a failed try, and the errors of a loop are nearly
/// always of one type. Types are never freed, so an identity stays what it was.
private let lastPlainErrorType = Atomic<UInt>(0)
