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
