extension Request {
    /// Adds an interceptor of this request, after those of the session and those that were added before.
    ///
    /// Call it before the request starts; later it has no effect.
    @discardableResult
    public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
        add(interceptor)
        return self
    }

    /// Adds an adapter of this request, after the others.
    ///
    /// Call it before the request starts; later it has no effect.
    @discardableResult
    public func adapt(using adapter: any RequestAdapter) -> Self { interceptor(Interceptor(adapters: [adapter])) }

    /// Adds a retrier of this request, after the others.
    ///
    /// Call it before the request starts; later it has no effect.
    @discardableResult
    public func retry(using retrier: any RequestRetrier) -> Self { interceptor(Interceptor(retriers: [retrier])) }

    /// Adds a monitor of this request, which receives its events from then on, after the session's monitors.
    @discardableResult
    public func eventMonitor(_ monitor: any EventMonitor) -> Self {
        add(monitor)
        return self
    }
}
