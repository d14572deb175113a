public import Dispatch

extension Session {
    /// Makes a session with the platform's transport; the parameters are Alamofire's.
    ///
    /// - Parameters:
    ///   - rootQueue: unused: a session has no queues of its own, and its state is safe from any thread.
    ///   - startRequestsImmediately: whether requests start when their responses are read. Defaults to true.
    ///   - requestQueue: unused, as `rootQueue`.
    ///   - serializationQueue: unused, as `rootQueue`.
    ///   - interceptor: adapts and retries all requests. Defaults to the recommended policy.
    ///   - redirectHandler: decides about the redirects of all requests that have none of their own. Defaults to nil:
    ///     they are followed.
    ///   - eventMonitors: the monitors that receive the events of all requests.
    @_disfavoredOverload
    public convenience init(
        rootQueue: DispatchQueue? = nil,
        startRequestsImmediately: Bool = true,
        requestQueue: DispatchQueue? = nil,
        serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = defaultInterceptor,
        redirectHandler: Redirector? = nil,
        eventMonitors: [any EventMonitor] = []
    ) {
        var settings = Settings()
        settings.startsRequestsImmediately = startRequestsImmediately
        let monitors = redirectHandler.map { [Redirector.Monitor(redirector: $0)] } ?? []
        self.init(interceptor: interceptor, eventMonitors: monitors + eventMonitors, settings: settings)
    }

    /// Whether requests start when their responses are read.
    public var startRequestsImmediately: Bool { settings.startsRequestsImmediately }
}
