// SPDX-License-Identifier: Apache-2.0
#if Metrics
@_exported public import Metrics
@_exported public import RefrainSession

/// Counts calls, attempts and retries, and measures attempts, with swift-metrics.
///
/// ```swift
/// let loader = MeasureCalls()
///     --> Retry(.recommended)
///     --> PlatformLoader()
/// let session = Session(
///     loader: PlatformLoader(), eventMonitors: [MeasureCalls()]
/// )
/// ```
///
/// The names and dimensions are those of `MetricsMonitor.Snapshot.prometheusText`:
///
/// | Name | Kind | Dimensions |
/// |---|---|---|
/// | `refrain_requests_total` | counter | `outcome`: succeeded, failed, cancelled |
/// | `refrain_attempts_total` | counter | `host`, `outcome`: the status or the error's code |
/// | `refrain_circuit_attempts_total` | counter | `host`, `phase` of a circuit breaker that is not closed |
/// | `refrain_retries_total` | counter | `host`, `reason` |
/// | `refrain_given_up_total` | counter | `host`, `reason` |
/// | `refrain_attempt_duration_seconds` | timer | `host` |
///
/// A call is counted with all of its attempts when it ends. Hosts past the first thousand count as `other`. In a chain
/// the stage belongs before `Retry`; in a session it is an event monitor.
public struct MeasureCalls: HTTPMiddleware {
    private let factory: (any MetricsFactory)?
    private let clocks: RetryClocks
    private let hosts = Hosts()

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - factory: makes the metrics. Defaults to nil: the factory that `MetricsSystem` was bootstrapped with.
    ///   - clocks: the clocks that an attempt is measured on where the chain has no `Retry` stage.
    public init(factory: (any MetricsFactory)? = nil, clocks: RetryClocks = .system) {
        self.factory = factory
        self.clocks = clocks
    }

    /// Passes a request on, and counts what became of it.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let start = clocks.now
        let result = await next.load(request)
        record(request, result, result.records(after: clocks.now - start))
        return result
    }

    private func record(_ request: HTTPRequest, _ result: HTTPResult, _ attempts: [AttemptRecord]) {
        let factory = factory ?? MetricsSystem.factory
        let host = hosts.label(of: request)
        func count(_ name: String, _ dimensions: [(String, String)]) {
            Counter(label: name, dimensions: dimensions, factory: factory).increment()
        }
        count("refrain_requests_total", [("outcome", Self.outcome(of: result))])
        for attempt in attempts {
            let outcome = attempt.status.map { "\($0)" } ?? attempt.error?.rawValue ?? "none"
            count("refrain_attempts_total", [("host", host), ("outcome", outcome)])
            if let phase = attempt.pacing?.circuit?.rawValue {
                count("refrain_circuit_attempts_total", [("host", host), ("phase", phase)])
            }
            let label = "refrain_attempt_duration_seconds"
            Timer(label: label, dimensions: [("host", host)], factory: factory).record(duration: attempt.duration)
            let reason = ("reason", attempt.reason.rawValue)
            switch attempt.decision {
            case .retry: count("refrain_retries_total", [("host", host), reason])
            case .finish where attempt.reason != .succeeded: count("refrain_given_up_total", [("host", host), reason])
            case .finish: break
            }
        }
    }

    private static func outcome(of result: HTTPResult) -> String {
        switch result {
        case .success: "succeeded"
        case .failure(let error): error.isCancellation ? "cancelled" : "failed"
        }
    }
}

extension MeasureCalls: EventMonitor {
    /// Counts a session's request when it ends.
    public func requestDidFinish(_ request: Request) {
        guard let sent = request.request else { return }
        record(sent, request.result(of: sent), request.attempts)
    }
}

/// The hosts that have a label of their own: a client of many hosts must not make metrics without end.
private final class Hosts: Sendable {
    private let known = Locked<Set<String>>([])

    func label(of request: HTTPRequest) -> String {
        let host = request.origin?.host ?? "none"
        return known.withLock { known in
            guard !known.contains(host) else { return host }
            guard known.count < 1000 else { return "other" }
            known.insert(host)
            return host
        }
    }
}

/// Returns a hook for `withRetry` that counts each retry by operation and error type.
///
/// ```swift
/// let settings = try await withRetry(
///     onRetry: countRetries(of: "load settings")
/// ) {
///     try await load()
/// }
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
