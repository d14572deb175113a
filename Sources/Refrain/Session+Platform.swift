#if canImport(Darwin)
internal import Foundation
#endif

extension Session {
    /// The session of those who need no other one: the platform's transport, the recommended policy, no monitors.
    public static let `default` = Session()

    /// Makes a session on the platform's transport: URLSession on Apple platforms, libcurl on Linux.
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
        #if canImport(Darwin)
        let loader = URLSessionLoader()
        #else
        let loader = CurlLoader()
        #endif
        self.init(loader: loader, interceptor: interceptor, eventMonitors: eventMonitors, settings: settings)
    }

    /// Makes a session on the platform's transport that judges servers host by host.
    ///
    /// - Parameters:
    ///   - serverTrust: which servers are trusted.
    ///   - interceptor: adapts and retries all requests, in place of the recommended policy.
    ///   - eventMonitors: who is told what happens.
    ///   - settings: what the stages are made with.
    /// - Throws: `InvalidArgument` for a file of certificates that cannot be read.
    public convenience init(
        serverTrust: ServerTrust,
        interceptor: (any RequestInterceptor)? = RetryPolicy.recommended,
        eventMonitors: [any EventMonitor] = [],
        settings: Settings = Settings()
    ) throws(InvalidArgument) {
        #if canImport(Darwin)
        let loader = try URLSessionLoader(configuration: .ephemeral, serverTrust: serverTrust)
        #else
        var configuration = CurlLoader.Configuration()
        configuration.serverTrust = serverTrust
        let loader = try CurlLoader(configuration: configuration)
        #endif
        self.init(loader: loader, interceptor: interceptor, eventMonitors: eventMonitors, settings: settings)
    }
}
