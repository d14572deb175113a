#if Logging
/// Returns a hook for `withRetry` that logs each retry, with the attempt, the delay and the error's type.
///
/// ```swift
/// let settings = try await withRetry(onRetry: logRetries(of: "load settings", to: logger)) { try await load() }
/// ```
///
/// - Parameters:
///   - operation: the name of the operation.
///   - logger: where the lines go.
///   - level: the level of the lines. Defaults to `notice`.
public func logRetries(
    of operation: String,
    to logger: Logger,
    level: Logger.Level = .notice
) -> @Sendable (Attempt, any Error, Duration) async -> Void {
    { attempt, error, delay in
        logger.log(
            level: level,
            "retrying \(operation)",
            metadata: [
                "refrain.operation": .string(operation),
                "refrain.attempt": .stringConvertible(attempt.number),
                "refrain.delay_ms": .stringConvertible(delay.inMilliseconds),
                // The type and not the text, which may quote secrets.
                "error.type": .string("\(type(of: error))"),
            ]
        )
    }
}
#endif
