internal import Synchronization

/// An error that knows whether a retry loop has already spent its tries on it.
///
/// Retries must not multiply: three tries around three tries are nine requests. So a loop of this package that gives
/// up marks its error, and the loops around it hand a marked error on (rule R24). An error may also stand for a
/// cancellation, which no loop repeats (rule R9).
public protocol ExhaustibleError: Error {
    /// Whether a loop further in has used up its tries, its budget or its time on this failure.
    var retriesAreExhausted: Bool { get }

    /// Whether the operation did not fail but was called off, as `CancellationError` says it.
    ///
    /// No loop of this package repeats it, whatever else it is told. The default is false.
    var isCancellation: Bool { get }
}

extension ExhaustibleError {
    /// An error is a failure unless it says otherwise.
    public var isCancellation: Bool { false }
}

extension Error {
    /// Whether this says that the operation was called off, in whichever way it says so.
    package var saysCancelled: Bool {
        self is CancellationError || (self as? any ExhaustibleError)?.isCancellation == true
    }
}

/// Whether an error may be tried again at all, whatever a predicate says.
///
/// Cancellation is not a failure, and is never retried, whichever error stands for it. An error that is marked as
/// exhausted is retried only where the caller asks for it.
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
    if exhaustible.isCancellation { return .cancelled }
    return !includingExhausted && exhaustible.retriesAreExhausted ? .exhaustedWithin : nil
}

/// The type of the last error that was neither a cancellation nor exhaustible.
///
/// To ask an error for its protocols costs more than all the rest of a failed try, and the errors of a loop are nearly
/// always of one type. Types are never freed, so an identity stays what it was.
private let lastPlainErrorType = Atomic<UInt>(0)
