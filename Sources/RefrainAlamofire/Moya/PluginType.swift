// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Receives the requests of a provider and their results, and may change both.
public protocol PluginType: Sendable {
    /// Returns the request to send; called for each attempt.
    func prepare(_ request: HTTPRequest, target: any TargetType) -> HTTPRequest
    /// An attempt is about to be sent, as all plugins have prepared it.
    func willSend(_ request: HTTPRequest, target: any TargetType)
    /// The request has ended.
    func didReceive(_ result: Result<Response, MoyaError>, target: any TargetType)
    /// Returns the result that the caller gets.
    func process(_ result: Result<Response, MoyaError>, target: any TargetType) -> Result<Response, MoyaError>
}

extension PluginType {
    /// Returns the request unchanged.
    public func prepare(_ request: HTTPRequest, target: any TargetType) -> HTTPRequest { request }
    /// Does nothing.
    public func willSend(_ request: HTTPRequest, target: any TargetType) {}
    /// Does nothing.
    public func didReceive(_ result: Result<Response, MoyaError>, target: any TargetType) {}
    /// Returns the result unchanged.
    public func process(
        _ result: Result<Response, MoyaError>,
        target: any TargetType
    ) -> Result<Response, MoyaError> { result }
}

/// A target whose token a plugin adds.
public protocol AccessTokenAuthorizable {
    /// The scheme of `Authorization`; nil: no token is added.
    var authorizationType: AuthorizationType? { get }
}

/// The scheme of an access token.
public enum AuthorizationType: Hashable, Sendable {
    /// `Basic`.
    case basic
    /// `Bearer`.
    case bearer
    /// Another scheme.
    case custom(String)

    /// The scheme as it is sent.
    public var value: String {
        switch self {
        case .basic: "Basic"
        case .bearer: "Bearer"
        case .custom(let scheme): scheme
        }
    }
}

/// Adds a token to the requests of targets that are ``AccessTokenAuthorizable``.
///
/// It refreshes nothing; an `AuthenticationInterceptor` of the session does.
public struct AccessTokenPlugin: PluginType {
    private let token: @Sendable (any TargetType) -> String

    /// Makes the plugin; the closure returns the token of a target.
    public init(tokenClosure: @escaping @Sendable (any TargetType) -> String) { token = tokenClosure }

    /// Adds `Authorization`.
    public func prepare(_ request: HTTPRequest, target: any TargetType) -> HTTPRequest {
        let base = (target as? MultiTarget)?.target ?? target
        guard let type = (base as? any AccessTokenAuthorizable)?.authorizationType else { return request }
        var request = request
        request.headers["Authorization"] = "\(type.value) \(token(base))"
        return request
    }
}

/// A target of any kind, for a provider of several kinds.
public enum MultiTarget: TargetType {
    /// The target.
    case target(any TargetType)

    /// Wraps a target.
    public init(_ target: any TargetType) { self = .target(target) }

    /// The target.
    public var target: any TargetType {
        switch self {
        case .target(let target): target
        }
    }

    /// The base URL of the target.
    public var baseURL: URL { target.baseURL }
    /// The path of the target.
    public var path: String { target.path }
    /// The method of the target.
    public var method: HTTPMethod { target.method }
    /// The task of the target.
    public var task: TargetTask { target.task }
    /// The header fields of the target.
    public var headers: [String: String]? { target.headers }
    /// The accepted statuses of the target.
    public var validationType: ValidationType { target.validationType }
    /// The interceptor of the target.
    public var interceptor: (any RequestInterceptor)? { target.interceptor }
    /// The sample data of the target.
    public var sampleData: Data { target.sampleData }
}

/// A target as its endpoint has it, with the plugins of its provider as the last adapters, which see what is sent.
struct PluggedTarget: TargetType {
    let target: any TargetType
    let endpoint: Endpoint
    let baseURL: URL
    let plugins: [any PluginType]

    var path: String { "" }
    var method: HTTPMethod { endpoint.method }
    var task: TargetTask { endpoint.task }
    var headers: [String: String]? { endpoint.httpHeaderFields }
    var validationType: ValidationType { target.validationType }
    var sampleData: Data { target.sampleData }

    var interceptor: (any RequestInterceptor)? {
        guard !plugins.isEmpty else { return target.interceptor }
        let own = target.interceptor.map { [$0] } ?? []
        let adapter = Adapter { request, _ in
            let prepared = plugins.reduce(request) { $1.prepare($0, target: target) }
            for plugin in plugins { plugin.willSend(prepared, target: target) }
            return prepared
        }
        return Interceptor(adapters: own + [adapter], retriers: own)
    }
}
