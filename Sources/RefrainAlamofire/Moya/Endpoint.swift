// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a provider sends for a target.
public struct Endpoint: Sendable {
    /// Returns what a stubbed provider answers with.
    public typealias SampleResponseClosure = @Sendable () -> EndpointSampleResponse

    /// The URL.
    public let url: String
    /// Returns what a stubbed provider answers with.
    public let sampleResponseClosure: SampleResponseClosure
    /// The method.
    public let method: HTTPMethod
    /// The body and the parameters.
    public let task: TargetTask
    /// The header fields, or nil.
    public let httpHeaderFields: [String: String]?

    /// Makes an endpoint.
    ///
    /// - Parameters:
    ///   - url: the URL. One that is none fails the request with ``MoyaError/requestMapping(_:)``.
    ///   - sampleResponseClosure: returns what a stubbed provider answers with.
    ///   - method: the method.
    ///   - task: the body and the parameters.
    ///   - httpHeaderFields: the header fields, or nil.
    public init(
        url: String,
        sampleResponseClosure: @escaping SampleResponseClosure,
        method: HTTPMethod,
        task: TargetTask,
        httpHeaderFields: [String: String]?
    ) {
        self.url = url
        self.sampleResponseClosure = sampleResponseClosure
        self.method = method
        self.task = task
        self.httpHeaderFields = httpHeaderFields
    }

    /// Returns the endpoint with further header fields, which replace those of the same name.
    public func adding(newHTTPHeaderFields fields: [String: String]) -> Endpoint {
        Endpoint(
            url: url,
            sampleResponseClosure: sampleResponseClosure,
            method: method,
            task: task,
            httpHeaderFields: (httpHeaderFields ?? [:]).filter { old, _ in
                !fields.keys.contains { HTTPHeaders.isSame($0, old) }
            }
            .merging(fields) { $1 }
        )
    }

    /// Returns the endpoint with another body and other parameters.
    public func replacing(task: TargetTask) -> Endpoint {
        Endpoint(
            url: url,
            sampleResponseClosure: sampleResponseClosure,
            method: method,
            task: task,
            httpHeaderFields: httpHeaderFields
        )
    }
}

/// What a stubbed provider answers with.
public enum EndpointSampleResponse: Sendable {
    /// A response with a status and a body.
    case networkResponse(Int, Data)
    /// The error of a request without a response; only the code of an `HTTPError` is kept.
    case networkError(any Error)

    /// The same for the transport of stubs.
    var stub: Session.TargetStubs.Stub {
        switch self {
        case .networkResponse(let status, let data): .networkResponse(status, data)
        case .networkError(let error): .networkError((error as? HTTPError)?.code ?? .unknown)
        }
    }
}
