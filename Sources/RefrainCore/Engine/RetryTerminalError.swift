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
}

extension RetryTerminalError {
    /// False: the error is a failure.
    public var isCancellation: Bool { false }
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
    let type = type(of: error)
    let identity = UInt(bitPattern: ObjectIdentifier(type))
    if lastPlainErrorType.load(ordering: .relaxed) == identity { return nil }
    if error is CancellationError { return .cancelled }
    guard let terminal = error as? any RetryTerminalError else {
        // A class can bridge an error of another type, as NSError does; for values the type is sufficient.
        if !(type is AnyClass) { lastPlainErrorType.store(identity, ordering: .relaxed) }
        return nil
    }
    if terminal.isCancellation { return .cancelled }
    return !includingExhausted && terminal.retriesAreExhausted ? .exhaustedWithin : nil
}

/// The type of the last error that was neither a cancellation nor a ``RetryTerminalError``.
///
/// The dynamic casts cost more than the rest of a failed attempt, and the errors of a loop are nearly always of one
/// type. Types are never freed, so an identity stays valid.
private let lastPlainErrorType = Atomic<UInt>(0)

/// Whether the current code runs within an operation that `Task.retrying` retries.
///
/// The caller has chosen these retries, so a default policy adds none.
package enum OuterRetry {
    @TaskLocal private static var operation: ActiveOperation?

    /// Whether it does.
    package static var isInside: Bool { operation?.isActive ?? false }

    /// Runs an operation as one that is repeated.
    package static func within<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        let operation = ActiveOperation()
        defer { operation.end() }
        return try await $operation.withValue(operation, operation: body)
    }
}
