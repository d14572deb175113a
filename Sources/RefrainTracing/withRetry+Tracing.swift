#if Tracing
/// Runs an operation as `withRetry` does, with a span for the call and one for each attempt.
///
/// ```swift
/// let settings = try await withTracedRetry("load settings", .exponential(from: .milliseconds(100), maxAttempts: 4)) {
///     attempt in try await load()
/// }
/// ```
///
/// The span of the call has an event for each retry, with the attempt, the delay and the error's type. An attempt runs
/// in the context of its own span.
///
/// - Parameters:
///   - name: the name of both spans.
///   - backoff: the delays and the number of attempts. Defaults to `Backoff.standard`.
///   - timeout: the time for all attempts and delays together. Defaults to nil: no limit.
///   - clock: the clock for the delays. Defaults to a monotonic one with one timer for all delays.
///   - tracer: makes the spans. Defaults to nil: the tracer that `InstrumentationSystem` was bootstrapped with.
///   - predicate: returns whether an error is transient. By default every error is.
///   - operation: one attempt.
/// - Throws: the error of the last attempt, or `CancellationError` if the task was cancelled.
public nonisolated(nonsending) func withTracedRetry<Success, C: Clock>(
    _ name: String,
    _ backoff: Backoff = .standard,
    timeout: Duration? = nil,
    clock: C = TimerClock(),
    tracer: (any Tracer)? = nil,
    while predicate: (any Error) async -> Bool = { _ in true },
    operation: (Attempt) async throws -> Success
) async throws -> Success where C.Duration == Duration {
    let tracer = tracer ?? InstrumentationSystem.tracer
    let call = tracer.startAnySpan(name)
    defer { call.end() }
    do {
        return try await withRetry(
            backoff,
            timeout: timeout,
            clock: clock,
            while: predicate,
            onRetry: { attempt, error, delay in call.addRetry(attempt, error, delay) },
            operation: { attempt in
                let span = tracer.startAnySpan(name, context: call.context)
                defer { span.end() }
                span.attributes["refrain.attempt"] = attempt.number
                do {
                    return try await ServiceContext.$current.withValue(span.context) { try await operation(attempt) }
                } catch {
                    span.fail(error)
                    throw error
                }
            }
        )
    } catch {
        call.fail(error)
        throw error
    }
}

extension Span {
    fileprivate func addRetry(_ attempt: Attempt, _ error: any Error, _ delay: Duration) {
        var event = SpanEvent(name: "retry")
        event.attributes["refrain.attempt"] = attempt.number
        event.attributes["refrain.delay_ms"] = Int(delay.inMilliseconds)
        // The type and not the text, which may quote secrets.
        event.attributes["error.type"] = "\(type(of: error))"
        addEvent(event)
    }

    fileprivate func fail(_ error: any Error) {
        attributes["error.type"] = "\(type(of: error))"
        setStatus(SpanStatus(code: .error))
    }
}
#endif
