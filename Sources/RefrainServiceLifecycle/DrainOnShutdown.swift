// SPDX-License-Identifier: Apache-2.0
#if ServiceLifecycle
internal import RefrainCore
public import RefrainHTTP
@_exported public import RefrainSession
@_exported public import ServiceLifecycle

/// A chain's first stage and a service: finishes the requests of the chain before the program ends.
///
/// ```swift
/// let drain = DrainOnShutdown()
/// let loader = drain --> Retry(.recommended) --> PlatformLoader()
/// let group = ServiceGroup(
///     services: [drain, server],
///     gracefulShutdownSignals: [.sigterm],
///     logger: logger
/// )
/// try await group.run()
/// ```
///
/// A service group shuts its services down in the reverse of their order, so the stage stands before those that use the
/// chain. A streamed body is read after its response was returned, and is not waited for. A stage belongs to one chain.
public struct DrainOnShutdown: HTTPMiddleware, Service {
    private let requests = ResetGuard()
    private let state = Locked(State())

    private struct State {
        var count = 0
        var isShutDown = false
        var drained: CheckedContinuation<Void, Never>?

        mutating func takeDrained() -> CheckedContinuation<Void, Never>? {
            guard count == 0 else { return nil }
            defer { drained = nil }
            return drained
        }
    }

    /// Makes the stage.
    public init() {}

    /// Forwards a request; after a shutdown only one that a request in flight makes, such as the refresh of its token.
    ///
    /// Others fail with `HTTPError.Code.sessionInvalidated`.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let isAdmitted = state.withLock { state in
            guard !state.isShutDown || requests.mayNeedPresentCode else { return false }
            state.count += 1
            return true
        }
        guard isAdmitted else {
            return .failure(
                HTTPError(.sessionInvalidated, request: request, message: "the service is shut down", bytesSent: 0)
            )
        }
        let result = await requests.load(request, next: next)
        let drained = state.withLock { state in
            state.count -= 1
            return state.takeDrained()
        }
        drained?.resume()
        return result
    }

    /// Cancels the requests in flight, and resets `next`.
    public func reset(next: any HTTPLoader) async { await requests.reset(next: next) }

    /// Returns after a graceful shutdown, when every request of the chain has returned.
    ///
    /// Where the task is cancelled, as after the group's `maximumGracefulShutdownDuration`, the requests in flight are
    /// cancelled.
    ///
    /// - Throws: `CancellationError` if the task was cancelled before a shutdown.
    public func run() async throws {
        do {
            try await gracefulShutdown()
        } catch {
            state.withLock { $0.isShutDown = true }
            await requests.reset()
            throw error
        }
        await withTaskCancellationHandler {
            await drain()
        } onCancel: {
            Task { await requests.reset() }
        }
    }

    /// Refuses further requests, and returns when those in flight have returned.
    private func drain() async {
        await withCheckedContinuation { continuation in
            let drained = state.withLock { state in
                state.isShutDown = true
                state.drained = continuation
                return state.takeDrained()
            }
            drained?.resume()
        }
    }
}

/// A session is a service, which finishes its requests before the program ends.
///
/// ```swift
/// let session = Session(loader: PlatformLoader())
/// let group = ServiceGroup(
///     services: [session, server],
///     gracefulShutdownSignals: [.sigterm],
///     logger: logger
/// )
/// try await group.run()
/// ```
///
/// A service group shuts its services down in the reverse of their order, so the session stands before those that use
/// it.
extension Session: Service {
    /// Returns after a graceful shutdown, when every request of the session has ended.
    ///
    /// From the shutdown on, new requests fail with `RefrainError.sessionInvalidated`, except those that a request in
    /// flight makes, such as the refresh of its token. Retries go on by their policy. Where the task is cancelled, as
    /// after the group's `maximumGracefulShutdownDuration`, the requests in flight end with the same error.
    ///
    /// - Throws: `CancellationError` if the task was cancelled before a shutdown.
    public func run() async throws {
        do {
            try await gracefulShutdown()
        } catch {
            invalidate(dueTo: error)
            throw error
        }
        await withTaskCancellationHandler {
            await drain()
        } onCancel: {
            invalidate()
        }
    }
}
#endif
