extension Session {
    /// The session of those who need no other one: libcurl's transport, the recommended policy, no monitors.
    public static let `default` = Session()

    /// Makes a session on the platform's transport.
    ///
    /// - Parameters:
    ///   - interceptor: adapts and retries all requests, in place of the recommended policy.
    ///   - eventMonitors: who is told what happens.
    ///   - settings: what the stages are made with.
    public convenience init(
        interceptor: (any RequestInterceptor)? = RetryPolicy.recommended,
        eventMonitors: [any EventMonitor] = [],
        settings: Settings = Settings()
    ) {
        self.init(loader: CurlLoader(), interceptor: interceptor, eventMonitors: eventMonitors, settings: settings)
    }
}
