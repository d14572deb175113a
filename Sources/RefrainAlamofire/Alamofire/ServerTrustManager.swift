/// The trust evaluation of servers, by host.
public typealias ServerTrustManager = ServerTrust

/// The evaluation of one server.
public typealias ServerTrustEvaluating = ServerTrust.Evaluator

// The names of Alamofire, where evaluators are types.

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The evaluation by the system's authorities, as without a manager.
public func DefaultTrustEvaluator() -> ServerTrust.Evaluator { .system }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// No evaluation, for tests only: any certificate is accepted.
public func DisabledTrustEvaluator() -> ServerTrust.Evaluator { .disabledAndInsecure }

extension Session {
    /// Makes a session with the platform's transport and a trust evaluation by host.
    ///
    /// - Throws: `InvalidArgument` for a certificate file that cannot be read.
    public convenience init(
        interceptor: (any RequestInterceptor)? = defaultInterceptor,
        serverTrustManager: ServerTrustManager,
        eventMonitors: [any EventMonitor] = []
    ) throws {
        try self.init(serverTrust: serverTrustManager, interceptor: interceptor, eventMonitors: eventMonitors)
    }
}
