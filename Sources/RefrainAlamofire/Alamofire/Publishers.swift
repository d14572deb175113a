// SPDX-License-Identifier: Apache-2.0
public import Dispatch

#if canImport(Combine)
public import Combine
public import Dispatch
public import Foundation
internal import Synchronization

/// Publishes the response of a request once, and then finishes; the request starts with the first demand.
///
/// A cancelled subscription cancels the request.
public struct DataResponsePublisher<Value: Sendable>: Publisher {
    /// The response.
    public typealias Output = AFDataResponse<Value>
    /// None: an error is part of the response.
    public typealias Failure = Never

    fileprivate let request: Request
    fileprivate let start: (@escaping @Sendable (Output) -> Void) -> Void

    /// Adds a subscriber.
    public func receive<Target: Subscriber>(subscriber: Target) where Target.Input == Output, Target.Failure == Never {
        subscriber.receive(subscription: ResponseSubscription(request, subscriber, start))
    }

    /// Publishes the value or the error.
    public func result() -> AnyPublisher<Result<Value, AFError>, Never> { map(\.result).eraseToAnyPublisher() }

    /// Publishes the value, or fails with the error.
    public func value() -> AnyPublisher<Value, AFError> {
        setFailureType(to: AFError.self).flatMap(\.result.publisher).eraseToAnyPublisher()
    }
}

/// Publishes the response of a download once, and then finishes.
public typealias DownloadResponsePublisher<Value: Sendable> = DataResponsePublisher<Value>

private final class ResponseSubscription<Target: Subscriber>: Subscription, @unchecked Sendable
where Target.Failure == Never, Target.Input: Sendable {
    // @unchecked Sendable: the subscriber is taken under the lock, and called once.
    private let request: Request
    private let start: (@escaping @Sendable (Target.Input) -> Void) -> Void
    private let lock = Mutex(false)
    private var target: Target?

    init(
        _ request: Request,
        _ target: Target,
        _ start: @escaping (@escaping @Sendable (Target.Input) -> Void) -> Void
    ) {
        self.request = request
        self.target = target
        self.start = start
    }

    func request(_ demand: Subscribers.Demand) {
        let isFirst = lock.withLock { hasStarted in
            defer { hasStarted = hasStarted || demand > 0 }
            return !hasStarted && demand > 0
        }
        guard isFirst else { return }
        start(deliver)
        request.resume()
    }

    @Sendable
    private func deliver(_ response: Target.Input) {
        let target = take()
        _ = target?.receive(response)
        target?.receive(completion: .finished)
    }

    func cancel() { if take() != nil { request.cancel() } }

    private func take() -> Target? {
        lock.withLock { _ in
            defer { target = nil }
            return target
        }
    }
}

extension Request.ContentReading {
    /// Publishes the response with the value of a serializer.
    public func publishResponse<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        on queue: DispatchQueue = .main
    ) -> DataResponsePublisher<Serializer.Value> {
        DataResponsePublisher(request: self) { [self] completion in
            response(queue: queue, responseSerializer: serializer, completionHandler: completion)
        }
    }

    /// Publishes the response with its content as bytes.
    public func publishData(queue: DispatchQueue = .main) -> DataResponsePublisher<Data> {
        publishResponse(using: Request.DataSerializer(), on: queue)
    }

    /// Publishes the response with its content as text.
    public func publishString(queue: DispatchQueue = .main) -> DataResponsePublisher<String> {
        publishResponse(using: Request.StringSerializer(), on: queue)
    }

    /// Publishes the response with its content decoded.
    public func publishDecodable<Value: Decodable & Sendable>(
        type: Value.Type = Value.self,
        queue: DispatchQueue = .main,
        decoder: any Request.DataDecoder = JSONDecoder()
    ) -> DataResponsePublisher<Value> {
        publishResponse(using: Request.DecodableSerializer<Value>(decoder: decoder), on: queue)
    }
}

extension DataRequest {
    /// Publishes the response with its content unread; nil stands for an empty one.
    public func publishUnserialized(queue: DispatchQueue = .main) -> DataResponsePublisher<Data?> {
        DataResponsePublisher(request: self) { [self] completion in
            response(queue: queue, completionHandler: completion)
        }
    }
}

extension DownloadRequest {
    /// Publishes the response with the file.
    public func publishURL(queue: DispatchQueue = .main) -> DownloadResponsePublisher<URL> {
        DataResponsePublisher(request: self) { [self] completion in
            responseURL(queue: queue, completionHandler: completion)
        }
    }
}
#endif

extension Request {
    /// Calls `handler` with the request of each attempt, as the adapters have made it.
    ///
    /// - Parameters:
    ///   - queue: where `handler` is called. Defaults to the main queue.
    ///   - handler: receives the request.
    @preconcurrency
    @discardableResult
    public func onURLRequestCreation(
        on queue: DispatchQueue = .main,
        perform handler: @escaping @Sendable (HTTPRequest) -> Void
    ) -> Self {
        eventMonitor(AttemptMonitor(sent: { request in queue.async { handler(request) } }))
    }

    /// The requests of all attempts, until the request has ended.
    public func urlRequests() -> AsyncStream<HTTPRequest> {
        stream { continuation in eventMonitor(AttemptMonitor(sent: { continuation.yield($0) })) }
    }

    /// The requests of all attempts as `curl` commands, until the request has ended.
    public func cURLDescriptions() -> AsyncStream<String> {
        stream { continuation in
            let sent: @Sendable (HTTPRequest) -> Void = { [weak self] _ in
                if let self { continuation.yield(cURLDescription()) }
            }
            return eventMonitor(AttemptMonitor(sent: sent))
        }
    }

    /// The heads of the responses of all attempts, until the request has ended.
    public func httpResponses() -> AsyncStream<HTTPResponse> {
        stream { continuation in onHTTPResponse { continuation.yield($0) } }
    }

    /// The progress of the body of the request, until the request has ended.
    public func uploadProgress() -> AsyncStream<Progress> {
        stream { continuation in
            uploadProgress { (progress: Request.TransferProgress) in continuation.yield(Progress(progress)) }
        }
    }

    /// The progress of the content of the response, until the request has ended.
    public func downloadProgress() -> AsyncStream<Progress> {
        stream { continuation in
            downloadProgress { (progress: Request.TransferProgress) in continuation.yield(Progress(progress)) }
        }
    }

    private func stream<Value: Sendable>(
        _ start: (AsyncStream<Value>.Continuation) -> Request
    ) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
        _ = start(continuation)
        // Also where the request has ended before.
        whenEnded { continuation.finish() }
        return stream
    }
}

/// Calls a closure with each attempt's request.
private struct AttemptMonitor: EventMonitor {
    let sent: @Sendable (HTTPRequest) -> Void

    func request(_ request: Request, didStartAttempt number: Int, with sent: HTTPRequest) { self.sent(sent) }
}
