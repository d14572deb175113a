// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// An error that tells outer retry loops not to retry it.
///
/// Retries must not multiply: three attempts around three attempts are nine. A loop of this package marks the error
/// that it ends with, and the loops around it rethrow a marked error (rule R24). An error can also stand for a
/// cancellation, which no loop retries (rule R9).
public protocol RetryTerminalError: Error {
    /// Whether an inner loop has used up its attempts, its budget or its time on this failure.
    var retriesAreExhausted: Bool { get }

    /// Whether this error stands for a cancellation, like `CancellationError`.
    ///
    /// No loop of this package retries it, whatever its arguments. Defaults to false.
    var isCancellation: Bool { get }

    /// How long an outer loop waits at least before it runs the operation again, such as a server's `Retry-After`.
    ///
    /// The loop waits for the longer one of this and the delay of its schedule. Defaults to nil: the schedule alone
    /// counts.
    var minimumRetryDelay: Duration? { get }
}

extension RetryTerminalError {
    /// False: the error is a failure.
    public var isCancellation: Bool { false }
    /// Nil: the schedule of the outer loop alone counts.
    public var minimumRetryDelay: Duration? { nil }
}

extension Error {
    /// Whether this is `CancellationError`, or an error that stands for a cancellation.
    package var isCancellation: Bool {
        self is CancellationError || (self as? any RetryTerminalError)?.isCancellation == true
    }
}

/// Returns why an error must not be retried, whatever a predicate returns; nil if it may be.
///
/// Cancellation is never retried, whichever error stands for it. An error that is marked as exhausted is retried only
/// if `includingExhausted` is true.
@usableFromInline
func nonRetryableReason(for error: any Error, includingExhausted: Bool) -> RetryReason? {
    if isPlain(error) { return nil }
    if error is CancellationError { return .cancelled }
    guard let terminal = error as? any RetryTerminalError else {
        // A class can bridge an error of another type, as NSError does; for values the type is sufficient.
        let type = type(of: error)
        if !(type is AnyClass) {
            lastPlainErrorType.store(UInt(bitPattern: ObjectIdentifier(type)), ordering: .relaxed)
        }
        return nil
    }
    if terminal.isCancellation { return .cancelled }
    return !includingExhausted && terminal.retriesAreExhausted ? .exhaustedWithin : nil
}

/// Returns the delay before an operation runs again: that of the schedule, or the error's if that is longer.
@usableFromInline
func retryDelay(_ scheduled: Duration, after error: any Error) -> Duration {
    guard !isPlain(error), let error = error as? any RetryTerminalError else { return scheduled }
    return max(scheduled, error.minimumRetryDelay ?? .zero)
}

/// Whether an error is known to be neither a cancellation nor a ``RetryTerminalError``.
func isPlain(_ error: any Error) -> Bool {
    lastPlainErrorType.load(ordering: .relaxed) == UInt(bitPattern: ObjectIdentifier(type(of: error)))
}

/// The type of the last error that was neither a cancellation nor a ``RetryTerminalError``.
///
/// The dynamic casts cost more than the rest of a failed attempt, and the errors of a loop are nearly always of one
/// type. Types are never freed, so an identity stays valid.
private let lastPlainErrorType = Atomic<UInt>(0)
