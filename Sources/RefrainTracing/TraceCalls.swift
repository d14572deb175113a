#if Tracing
@_exported public import RefrainSession
@_exported public import Tracing

/// Opens a span for each call, the parent of the spans of its attempts.
///
/// ```swift
/// let loader = TraceCalls() --> Retry(.recommended) --> TraceAttempts() --> PlatformLoader()
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
