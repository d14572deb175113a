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
@inlinable
func refusal(toRetry error: any Error, includingExhausted: Bool) -> RetryReason? {
    if error is CancellationError { return .cancelled }
    if !includingExhausted, let error = error as? any ExhaustibleError, error.retriesAreExhausted {
        return .exhaustedWithin
    }
    return nil
}
