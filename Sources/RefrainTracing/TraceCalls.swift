// SPDX-License-Identifier: Apache-2.0
#if Tracing
@_exported public import RefrainSession
@_exported public import Tracing

/// Opens a span for each call, the parent of the spans of its attempts.
///
/// ```swift
/// let loader = TraceCalls()
///     --> Retry(.recommended)
///     --> TraceAttempts()
///     --> PlatformLoader()
/// ```
///
/// The span covers all attempts and the delays between them, and has an event for each retry with its reason and delay.
/// Its names are those of OpenTelemetry's conventions for HTTP. It belongs before `Retry`, and after `Deduplicate`,
/// which shares nothing between observed requests.
public struct TraceCalls: HTTPMiddleware {
    private let tracer: (any Tracer)?
    private let redaction: LogMonitor.Redaction

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - tracer: makes the spans. Defaults to nil: the tracer that `InstrumentationSystem` was bootstrapped with.
    ///   - redaction: what is not shown of a URL. Defaults to `LogMonitor.Redaction.telemetry`.
    public init(tracer: (any Tracer)? = nil, redaction: LogMonitor.Redaction = .telemetry) {
        self.tracer = tracer
        self.redaction = redaction
    }

    /// Passes a request on within a span.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let attributes = CallAttributes(request, redaction: redaction)
        let span = (tracer ?? InstrumentationSystem.tracer).span("\(attributes.spanName) call", .internal, attributes)
        defer { span.end() }
        var observed = request
        observed.attemptObserver = { [original = request.attemptObserver] record in
            original?(record)
            if record.decision == .retry { span.addRetry(record) }
        }
        let result = await ServiceContext.$current.withValue(span.context) { [observed] in await next.load(observed) }
        span.conclude(result)
        return result
    }
}

/// Opens a span for each attempt, and sends its context along, such as `traceparent` (W3C Trace Context).
///
/// The span has the kind `client` and the names of OpenTelemetry's conventions for HTTP, with
/// `http.request.resend_count` from the second attempt on. It belongs after `Retry`, before the transport; so it stands
/// in the loader of a session, too. Each attempt is sent with the context of its own span, and with no other (rule R6).
public struct TraceAttempts: HTTPMiddleware {
    private let tracer: (any Tracer)?
    private let redaction: LogMonitor.Redaction

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - tracer: makes the spans. Defaults to nil: the tracer that `InstrumentationSystem` was bootstrapped with.
    ///   - redaction: what is not shown of a URL. Defaults to `LogMonitor.Redaction.telemetry`.
    public init(tracer: (any Tracer)? = nil, redaction: LogMonitor.Redaction = .telemetry) {
        self.tracer = tracer
        self.redaction = redaction
    }

    /// Passes an attempt on within a span.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        var attributes = CallAttributes(request, redaction: redaction)
        attributes.add(resends: request.attemptNumber - 1)
        let tracer = tracer ?? InstrumentationSystem.tracer
        let span = tracer.span(attributes.spanName, .client, attributes)
        defer { span.end() }
        var sent = request
        tracer.inject(span.context, into: &sent, using: HeaderInjector())
        let result = await ServiceContext.$current.withValue(span.context) { [sent] in await next.load(sent) }
        span.conclude(result)
        return result
    }
}

/// Writes the context of a span into header fields.
private struct HeaderInjector: Injector {
    func inject(_ value: String, forKey key: String, into request: inout HTTPRequest) { request.headers[key] = value }
}
#endif

#if Tracing
/// Runs an operation as `withRetry` does, with a span for the call and one for each attempt.
///
/// ```swift
/// let settings = try await withTracedRetry(
///     "load settings",
///     .exponential(from: .milliseconds(100), maxAttempts: 4)
/// ) {
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

#if Tracing
extension Tracer {
    /// Starts a span with the attributes of a call or an attempt.
    func span(_ name: String, _ kind: SpanKind, _ attributes: CallAttributes) -> any Tracing.Span {
        let span = startSpan(name, ofKind: kind)
        span.set(attributes)
        return span
    }
}

extension Span {
    func set(_ values: CallAttributes) { attributes.merge(SpanAttributes(values)) }

    /// Adds what a call or an attempt has come to: from status 400 on it is an error.
    func conclude(_ result: HTTPResult) {
        var outcome = CallAttributes()
        outcome.add(result)
        set(outcome)
        guard !result.isAcceptable else { return }
        setStatus(SpanStatus(code: .error))
    }

    /// Adds the event of a retry.
    fileprivate func addRetry(_ record: AttemptRecord) {
        var values = CallAttributes()
        values.add(record)
        values.add("refrain.reason", .text(record.reason.rawValue))
        values.add("refrain.delay_ms", .number(Int(record.delay.inMilliseconds)))
        addEvent(SpanEvent(name: "retry", attributes: SpanAttributes(values)))
    }
}

extension SpanAttributes {
    init(_ values: CallAttributes) {
        self.init([:])
        for (name, value) in values.values {
            switch value {
            case .text(let text): self[name] = text
            case .number(let number): self[name] = number
            }
        }
    }
}
#endif
