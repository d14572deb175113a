#if ServiceLifecycle
/// A session is a service, which finishes its requests before the program ends.
///
/// ```swift
/// let session = Session(loader: CurlLoader())
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
