// SPDX-License-Identifier: Apache-2.0
#if Logging
@_exported public import Logging
@_exported public import RefrainSession

/// Logs each retry and the end of each call, with the reason, to a `Logger` of swift-log.
///
/// ```swift
/// let loader = LogCalls(to: Logger(label: "shop.api"))
///     --> Retry(.recommended)
///     --> PlatformLoader()
/// let session = Session(
///     loader: PlatformLoader(),
///     eventMonitors: [LogCalls(to: logger)]
/// )
/// ```
///
/// The metadata has the names of OpenTelemetry's conventions for HTTP (`http.request.method`, `url.full`,
/// `http.response.status_code`, `http.request.resend_count`, `error.type` and others) and `refrain.reason`,
/// `refrain.delay_ms`, `refrain.duration_ms`, `refrain.attempts`. No header field and no body is logged, and secrets of
/// the URL are hidden.
///
/// In a chain it belongs before `Retry`, and after `Deduplicate`, which shares nothing between observed requests. In a
/// session it is an event monitor.
public struct LogCalls: HTTPMiddleware {
    /// The level of each kind of line.
    public struct Levels: Sendable {
        /// The level of a call that succeeded with a status below 400.
        ///
        /// Defaults to `debug`.
        public var success = Logger.Level.debug
        /// The level of an attempt that is followed by another one.
        ///
        /// Defaults to `notice`.
        public var retry = Logger.Level.notice
        /// The level of a call that failed.
        ///
        /// Defaults to `error`.
        public var failure = Logger.Level.error
        /// The level of a call that was cancelled.
        ///
        /// Defaults to `debug`.
        public var cancellation = Logger.Level.debug

        /// The defaults.
        public init() {}
    }

    private let logger: Logger
    private let levels: Levels
    private let redaction: LogMonitor.Redaction
    private let clocks: RetryClocks

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - logger: where the lines go.
    ///   - levels: the level of each kind of line.
    ///   - redaction: what is not shown of a URL. Defaults to `LogMonitor.Redaction.telemetry`.
    ///   - clocks: the clocks that the duration of a call is measured on.
    public init(
        to logger: Logger,
        levels: Levels = Levels(),
        redaction: LogMonitor.Redaction = .telemetry,
        clocks: RetryClocks = .system
    ) {
        self.logger = logger
        self.levels = levels
        self.redaction = redaction
        self.clocks = clocks
    }

    /// Passes a request on, and logs what becomes of it.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        var observed = request
        observed.attemptObserver = { [original = request.attemptObserver] record in
            original?(record)
            if record.decision == .retry { logRetry(of: request, record) }
        }
        let start = clocks.now
        let result = await next.load(observed)
        let duration = clocks.now - start
        logEnd(of: request, result, result.records(after: duration), after: duration)
        return result
    }

    private func logRetry(of request: HTTPRequest, _ record: AttemptRecord) {
        var attributes = CallAttributes(request, redaction: redaction)
        attributes.add(record)
        attributes.add("refrain.reason", .text(record.reason.rawValue))
        attributes.add("refrain.delay_ms", .number(Int(record.delay.inMilliseconds)))
        attributes.add("refrain.duration_ms", .number(Int(record.duration.inMilliseconds)))
        logger.log(level: levels.retry, "retrying an HTTP request", metadata: Logger.Metadata(attributes))
    }

    private func logEnd(
        of request: HTTPRequest,
        _ result: HTTPResult,
        _ records: [AttemptRecord],
        after duration: Duration
    ) {
        var attributes = CallAttributes(request, redaction: redaction)
        attributes.add(result)
        attributes.add(resends: records.count - 1)
        if let reason = records.last?.reason { attributes.add("refrain.reason", .text(reason.rawValue)) }
        attributes.add("refrain.attempts", .number(records.count))
        attributes.add("refrain.duration_ms", .number(Int(duration.inMilliseconds)))
        let metadata = Logger.Metadata(attributes)
        switch result {
        case .failure(let error) where error.isCancellation:
            logger.log(level: levels.cancellation, "an HTTP request was cancelled", metadata: metadata)
        case .success where result.isAcceptable:
            logger.log(level: levels.success, "an HTTP request succeeded", metadata: metadata)
        default:
            logger.log(level: levels.failure, "an HTTP request failed", metadata: metadata)
        }
    }
}

extension LogCalls: EventMonitor {
    /// Logs a retry of a session's request.
    public func request(_ request: Request, willRetryAfter delay: Duration, reason: RetryReason) {
        guard let sent = request.request, let record = request.attempts.last else { return }
        logRetry(of: sent, record)
    }

    /// Logs the end of a session's request.
    public func requestDidFinish(_ request: Request) {
        guard let sent = request.request else { return }
        let records = request.attempts
        let duration = records.last.map { $0.start + $0.duration } ?? .zero
        logEnd(of: sent, request.result(of: sent), records, after: duration)
    }
}

extension Logger.Metadata {
    init(_ attributes: CallAttributes) {
        self.init(minimumCapacity: attributes.values.count)
        for (name, value) in attributes.values {
            switch value {
            case .text(let text): self[name] = .string(text)
            case .number(let number): self[name] = .stringConvertible(number)
            }
        }
    }
}

/// Returns a hook for `withRetry` that logs each retry, with the attempt, the delay and the error's type.
///
/// ```swift
/// let settings = try await withRetry(
///     onRetry: logRetries(of: "load settings", to: logger)
/// ) {
///     try await load()
/// }
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
