// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
internal import Foundation
#endif

#if canImport(Darwin)
/// The transport of the platform: `URLSessionLoader` on Apple platforms, `CurlLoader` on Linux.
///
/// ```swift
/// let loader = Redirect()
///     --> Retry(.recommended)
///     --> PlatformLoader()
/// ```
public typealias PlatformLoader = URLSessionLoader
#else
/// The transport of the platform: `URLSessionLoader` on Apple platforms, `CurlLoader` on Linux.
///
/// ```swift
/// let loader = Redirect()
///     --> Retry(.recommended)
///     --> PlatformLoader()
/// ```
public typealias PlatformLoader = CurlLoader
#endif

extension Session {
    /// The default session: the platform's transport, the recommended policy, and no monitors.
    public static let `default` = Session()

    /// Makes a session with the platform's transport: URLSession on Apple platforms, libcurl on Linux.
    ///
    /// - Parameters:
    ///   - interceptor: adapts and retries all requests. Defaults to the recommended policy.
    ///   - eventMonitors: the monitors that receive the events of all requests.
    ///   - settings: the settings of the stages.
    public convenience init(
        interceptor: (any RequestInterceptor)? = defaultInterceptor,
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

    /// Makes a session with the platform's transport and a trust evaluation by host.
    ///
    /// - Parameters:
    ///   - serverTrust: the trust evaluation by host.
    ///   - interceptor: adapts and retries all requests. Defaults to the recommended policy.
    ///   - eventMonitors: the monitors that receive the events of all requests.
    ///   - settings: the settings of the stages.
    /// - Throws: `InvalidArgument` for a certificate file that cannot be read.
    public convenience init(
        serverTrust: ServerTrust,
        interceptor: (any RequestInterceptor)? = defaultInterceptor,
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
