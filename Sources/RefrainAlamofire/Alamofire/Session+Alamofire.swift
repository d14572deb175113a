public import Dispatch

extension Session {
    /// Makes a session with the platform's transport; the parameters are Alamofire's.
    ///
    /// - Parameters:
    ///   - configuration: the settings of the transport. Defaults to nil: its own.
    ///   - rootQueue: unused: a session has no queues of its own, and its state is safe from any thread.
    ///   - startRequestsImmediately: whether requests start when their responses are read. Defaults to true.
    ///   - requestQueue: unused, as `rootQueue`.
    ///   - serializationQueue: unused, as `rootQueue`.
    ///   - interceptor: adapts and retries all requests. Defaults to the recommended policy.
    ///   - redirectHandler: decides about the redirects of all requests that have none of their own. Defaults to nil:
    ///     they are followed.
    ///   - cachedResponseHandler: unused: no response is cached.
    ///   - eventMonitors: the monitors that receive the events of all requests.
    @_disfavoredOverload
    public convenience init(
        configuration: SessionConfiguration? = nil,
        rootQueue: DispatchQueue? = nil,
        startRequestsImmediately: Bool = true,
        requestQueue: DispatchQueue? = nil,
        serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = defaultInterceptor,
        redirectHandler: Redirector? = nil,
        cachedResponseHandler: ResponseCacher? = nil,
        eventMonitors: [any EventMonitor] = []
    ) {
        var settings = Settings()
        settings.startsRequestsImmediately = startRequestsImmediately
        let redirects: [any EventMonitor] = redirectHandler.map { [Redirector.Monitor(redirector: $0)] } ?? []
        let monitors = (configuration?.monitors ?? []) + redirects + eventMonitors
        guard let configuration else {
            self.init(interceptor: interceptor, eventMonitors: monitors, settings: settings)
            return
        }
        self.init(
            loader: configuration.loader,
            interceptor: interceptor,
            eventMonitors: monitors,
            settings: settings
        )
    }

    /// Whether requests start when their responses are read.
    public var startRequestsImmediately: Bool { settings.startsRequestsImmediately }

    /// A serial queue for handlers that share state; all sessions have the same one, and run nothing else on it.
    ///
    /// Completions are called after the handlers of progress that were called on it.
    public var rootQueue: DispatchQueue { Self.callbackQueue }
    /// The ``rootQueue``.
    public var requestQueue: DispatchQueue { Self.callbackQueue }
    /// The ``rootQueue``.
    public var serializationQueue: DispatchQueue { Self.callbackQueue }

    static let callbackQueue = DispatchQueue(label: "refrain.session.callbacks")
}
