#if Metrics
/// Returns a hook for `withRetry` that counts each retry by operation and error type.
///
/// ```swift
/// let settings = try await withRetry(onRetry: countRetries(of: "load settings")) { try await load() }
/// ```
///
/// The counter is `refrain_operation_retries_total`. It is not the one of ``MeasureCalls``, because a metric must have
/// the same dimensions wherever it is counted.
///
/// - Parameters:
///   - operation: the name of the operation, the dimension `operation`.
///   - factory: makes the counter. Defaults to nil: the factory that `MetricsSystem` was bootstrapped with.
public func countRetries(
    of operation: String,
    factory: (any MetricsFactory)? = nil
) -> @Sendable (Attempt, any Error, Duration) async -> Void {
    { _, error, _ in
        let dimensions = [("operation", operation), ("error_type", "\(type(of: error))")]
        let factory = factory ?? MetricsSystem.factory
        Counter(label: "refrain_operation_retries_total", dimensions: dimensions, factory: factory).increment()
    }
}
#endif
