// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Counts requests, attempts and retries, and measures the duration of attempts, by host.
///
/// ```swift
/// let metrics = MetricsMonitor()
/// let session = Session(loader: loader, eventMonitors: [metrics])
/// // … at the end of a scrape:
/// print(metrics.snapshot.prometheusText)
/// ```
///
/// Hosts after the first thousand are counted as `other`, which limits the memory.
public final class MetricsMonitor: EventMonitor {
    private let state = Locked(State())

    private struct State {
        var snapshot = Snapshot()
        var hosts: Set<String> = []

        mutating func host(of request: HTTPRequest?) -> String {
            let host = request?.url.host()?.lowercased() ?? "none"
            guard !hosts.contains(host) else { return host }
            guard hosts.count < 1000 else { return "other" }
            hosts.insert(host)
            return host
        }
    }

    /// Makes a monitor with all counts zero.
    public init() {}

    /// The current counts.
    public var snapshot: Snapshot { state.withLock { $0.snapshot } }

    /// Counts a request.
    public func requestDidCreate(_ request: Request) { state.withLock { $0.snapshot.requestsCreated += 1 } }

    /// Counts an attempt and its duration.
    public func request(
        _ request: Request,
        didFinishAttempt number: Int,
        with result: HTTPResult,
        after duration: Duration
    ) {
        let outcome: String
        switch result {
        case .success(let response): outcome = "\(response.status)"
        case .failure(let error): outcome = error.code.rawValue
        }
        let sent = request.request
        state.withLock { state in
            let host = state.host(of: sent)
            state.snapshot.attempts[.init(host: host, outcome: outcome), default: 0] += 1
            state.snapshot.durations[host, default: Snapshot.DurationHistogram()].add(duration)
            guard let phase = result.pacing?.circuit?.rawValue else { return }
            state.snapshot.circuits[.init(host: host, outcome: phase), default: 0] += 1
        }
    }

    /// Counts a retry.
    public func request(_ request: Request, willRetryAfter delay: Duration, reason: RetryReason) {
        let sent = request.request
        state.withLock { state in
            let host = state.host(of: sent)
            state.snapshot.retries[.init(host: host, reason: reason), default: 0] += 1
        }
    }

    /// Counts a decision against a retry.
    public func request(_ request: Request, didGiveUp reason: RetryReason) {
        let sent = request.request
        state.withLock { state in
            let host = state.host(of: sent)
            state.snapshot.givenUp[.init(host: host, reason: reason), default: 0] += 1
        }
    }

    /// Counts the end of a request.
    public func requestDidFinish(_ request: Request) {
        let (hasFailed, wasCancelled) = (request.error != nil, request.isCancelled)
        state.withLock { state in
            if wasCancelled {
                state.snapshot.requestsCancelled += 1
            } else if hasFailed {
                state.snapshot.requestsFailed += 1
            } else {
                state.snapshot.requestsSucceeded += 1
            }
        }
    }
}
