// SPDX-License-Identifier: Apache-2.0
public import Dispatch

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Makes the requests of targets, as Moya's provider does; a thin layer over a session.
///
/// ```swift
/// let provider = MoyaProvider<GitHub>(plugins: [logger])
/// provider.request(.user("ada")) { result in
///     let user = try? result.get()
///         .filterSuccessfulStatusCodes()
///         .map(User.self)
/// }
/// ```
///
/// Request closures are left out: a plugin or an interceptor of the session changes requests.
public final class MoyaProvider<Target: TargetType>: Sendable {
    /// Makes the endpoint of a target.
    public typealias EndpointClosure = @Sendable (_ target: Target) -> Endpoint
    /// Whether a target is answered by its sample data.
    public typealias StubClosure = @Sendable (_ target: Target) -> StubBehavior
    /// Receives the result of a request.
    public typealias Completion = @Sendable (_ result: Result<Response, MoyaError>) -> Void

    /// The session that makes the requests.
    public let session: Session
    /// The plugins, in order.
    public let plugins: [any PluginType]
    private let endpointClosure: EndpointClosure
    private let stubClosure: StubClosure
    private let callbackQueue: DispatchQueue?
    private let stubs = Session(
        loader: Session.TargetStubs { ($0 as? PluggedTarget)?.endpoint.sampleResponseClosure().stub ?? .never },
        interceptor: nil
    )

    /// Makes a provider.
    ///
    /// - Parameters:
    ///   - endpointClosure: makes the endpoint of a target. Defaults to what the target says.
    ///   - stubClosure: whether a target is answered by its sample data. Defaults to never.
    ///   - callbackQueue: where completions are called. Defaults to nil: any thread.
    ///   - session: makes the requests, with its own policy of retries. Defaults to the default session.
    ///   - plugins: receive the requests and their results.
    public init(
        endpointClosure: @escaping EndpointClosure = MoyaProvider.defaultEndpointMapping,
        stubClosure: @escaping StubClosure = MoyaProvider.neverStub,
        callbackQueue: DispatchQueue? = nil,
        session: Session = .default,
        plugins: [any PluginType] = []
    ) {
        self.endpointClosure = endpointClosure
        self.stubClosure = stubClosure
        self.callbackQueue = callbackQueue
        self.session = session
        self.plugins = plugins
    }

    /// Loads a target, and calls `completion` once.
    ///
    /// - Parameters:
    ///   - target: the target.
    ///   - callbackQueue: where `progress` and `completion` are called. Defaults to nil: the provider's queue.
    ///   - progress: receives the progress of the request's body and of the response's.
    ///   - completion: receives the response, or why there is none that the target's validation accepts.
    @discardableResult
    public func request(
        _ target: Target,
        callbackQueue: DispatchQueue? = nil,
        progress: (@Sendable (Request.TransferProgress) -> Void)? = nil,
        completion: @escaping Completion
    ) -> any Cancellable {
        let queue = callbackQueue ?? self.callbackQueue
        let work = Task { [self] in
            let result = await load(target, queue, progress)
            guard let queue else { return completion(result) }
            queue.async { completion(result) }
        }
        return CancellableTask(work: work)
    }

    /// Loads a target.
    ///
    /// - Throws: ``MoyaError`` if there is no response that the target's validation accepts.
    public func request(_ target: Target) async throws(MoyaError) -> Response {
        try await load(target, nil, nil).get()
    }

    private func load(
        _ target: Target,
        _ queue: DispatchQueue?,
        _ progress: (@Sendable (Request.TransferProgress) -> Void)?
    ) async -> Result<Response, MoyaError> {
        let behavior = stubClosure(target)
        if case .delayed(let seconds) = behavior { try? await TimerClock().sleep(for: .delay(seconds: seconds)) }
        guard !Task.isCancelled else { return finish(.failure(.underlying(AFError.explicitlyCancelled, nil)), target) }
        let endpoint = endpointClosure(target)
        guard let url = try? endpoint.url.asURL() else {
            return finish(.failure(.requestMapping(endpoint.url)), target)
        }
        let session = behavior == .never ? session : stubs
        let plugged = PluggedTarget(target: target, endpoint: endpoint, baseURL: url, plugins: plugins)
        let request = session.request(plugged)
        if let progress {
            let report: @Sendable (Request.TransferProgress) -> Void = { moment in
                guard let queue else { return progress(moment) }
                queue.async { progress(moment) }
            }
            request.downloadProgress(report)
            if request is UploadRequest { request.uploadProgress(report) }
        }
        let task = request.serializingResponse()
        // The session may wait for it, as Moya's own does.
        task.resume()
        let outcome = await task.response
        let response = outcome.response.map { Response($0, request: outcome.request) }
        let result: Result<Response, MoyaError>
        switch (outcome.result, response) {
        case (.success, let response?): result = .success(response)
        case (.success, nil): result = .failure(.requestMapping("there is no response"))
        case (.failure(.parameterEncodingFailed(let error)), _): result = .failure(.parameterEncoding(error))
        case (.failure(let error), let response): result = .failure(.underlying(error, response))
        }
        return finish(result, target)
    }

    /// Hands a result to the plugins, and returns what they make of it.
    private func finish(_ result: Result<Response, MoyaError>, _ target: Target) -> Result<Response, MoyaError> {
        for plugin in plugins { plugin.didReceive(result, target: target) }
        return plugins.reduce(result) { $1.process($0, target: target) }
    }

    /// Makes the endpoint that the target says, with its sample data under status 200.
    public static func defaultEndpointMapping(for target: Target) -> Endpoint {
        let url = target.path.isEmpty ? target.baseURL : target.baseURL.appending(path: target.path)
        return Endpoint(
            url: url.absoluteString,
            sampleResponseClosure: { .networkResponse(200, target.sampleData) },
            method: target.method,
            task: target.task,
            httpHeaderFields: target.headers
        )
    }

    /// Answers no target by its sample data.
    public static func neverStub(_: Target) -> StubBehavior { .never }
    /// Answers all targets by their sample data, at once.
    public static func immediatelyStub(_: Target) -> StubBehavior { .immediate }
    /// Answers all targets by their sample data, after so many seconds.
    public static func delayedStub(_ seconds: Double) -> StubClosure { { _ in .delayed(seconds: seconds) } }
}

/// Whether a target is answered by its sample data.
public enum StubBehavior: Hashable, Sendable {
    /// It is not.
    case never
    /// It is, at once.
    case immediate
    /// It is, after so many seconds.
    case delayed(seconds: Double)
}

/// A request that can be cancelled.
public protocol Cancellable: Sendable {
    /// Whether it was cancelled.
    var isCancelled: Bool { get }
    /// Cancels the request.
    func cancel()
}

private struct CancellableTask: Cancellable {
    let work: Task<Void, Never>

    var isCancelled: Bool { work.isCancelled }

    func cancel() { work.cancel() }
}
