// SPDX-License-Identifier: Apache-2.0
public import Dispatch
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DataStreamRequest {
    /// Receives the events of a stream; an error that it throws ends the request.
    public typealias Handler<Success: Sendable, Failure: Error> = @Sendable (Stream<Success, Failure>) throws -> Void

    /// An event of a stream, with the means to cancel the request.
    public struct Stream<Success: Sendable, Failure: Error>: Sendable {
        /// What a stream brings.
        public enum Event: Sendable {
            /// The value of the next chunk, or why there is none.
            case stream(Result<Success, Failure>)
            /// The end, after which nothing comes.
            case complete(Completion)
        }

        /// The event.
        public let event: Event
        /// Cancels the request.
        public let token: CancellationToken

        /// Cancels the request.
        public func cancel() { token.cancel() }

        /// The value or the error of a chunk; nil at the end.
        public var result: Result<Success, Failure>? {
            guard case .stream(let result) = event else { return nil }
            return result
        }
        /// The value of a chunk, or nil.
        public var value: Success? { try? result?.get() }
        /// The error of a chunk, or nil.
        public var error: Failure? {
            guard case .failure(let error)? = result else { return nil }
            return error
        }
        /// The end, or nil.
        public var completion: Completion? {
            guard case .complete(let completion) = event else { return nil }
            return completion
        }
    }

    /// How a stream ended.
    public struct Completion: Sendable {
        /// The request that was sent last, or nil.
        public let request: HTTPRequest?
        /// The head of the response, or nil.
        public let response: HTTPResponse?
        /// Why the stream ended early, or nil.
        public let error: RefrainError?

        /// What is known of the exchange, or nil.
        public var metrics: HTTPResponse.Exchange? { response?.exchange }
    }

    /// Cancels a request, which it does not keep.
    public struct CancellationToken: Sendable {
        private weak let request: DataStreamRequest?
        private let note: @Sendable () -> Void

        init(_ request: DataStreamRequest, noting note: @escaping @Sendable () -> Void) {
            self.request = request
            self.note = note
        }

        /// Cancels the request, if there still is one; a stream whose last chunk has come ends as cancelled, too.
        public func cancel() {
            note()
            request?.cancel()
        }
    }

    /// Calls `stream` with each chunk, and then with the end; the request starts.
    ///
    /// The server is held back until `stream` returns. An error that it throws ends the request with
    /// `RefrainError.responseSerializationFailed(reason:attempts:)`.
    ///
    /// - Parameters:
    ///   - queue: where `stream` is called; nil means any thread. Defaults to the main queue, as in Alamofire.
    ///   - stream: receives the events.
    @preconcurrency
    @discardableResult
    public func responseStream(on queue: DispatchQueue? = .main, stream: @escaping Handler<Data, Never>) -> Self {
        events(on: queue, stream) { .success(Data($0)) }
    }

    /// As ``responseStream(on:stream:)``, with values that a serializer makes.
    @preconcurrency
    @discardableResult
    public func responseStream<Serializer: DataStreamSerializer>(
        using serializer: Serializer,
        on queue: DispatchQueue? = .main,
        stream: @escaping Handler<Serializer.SerializedObject, RefrainError>
    ) -> Self {
        events(on: queue, stream) { chunk in
            do {
                return .success(try serializer.serialize(Data(chunk)))
            } catch {
                return .failure(Self.failure(error))
            }
        }
    }

    /// As ``responseStream(on:stream:)``, with chunks as text in UTF-8.
    @preconcurrency
    @discardableResult
    public func responseStreamString(on queue: DispatchQueue? = .main, stream: @escaping Handler<String, Never>) -> Self
    {
        events(on: queue, stream) { .success(String(decoding: $0, as: UTF8.self)) }
    }

    /// As ``responseStream(on:stream:)``, with chunks decoded.
    @preconcurrency
    @discardableResult
    public func responseStreamDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        on queue: DispatchQueue? = .main,
        using decoder: any Request.DataDecoder = JSONDecoder(),
        preprocessor: (any DataPreprocessor)? = nil,
        stream: @escaping Handler<Value, RefrainError>
    ) -> Self {
        let serializer = DecodableStreamSerializer<Value>(decoder: decoder, dataPreprocessor: preprocessor)
        return responseStream(using: serializer, on: queue, stream: stream)
    }

    private func events<Success, Failure>(
        on queue: DispatchQueue?,
        _ handler: @escaping Handler<Success, Failure>,
        read: @escaping @Sendable ([UInt8]) -> Result<Success, Failure>
    ) -> Self {
        // The error of a handler that threw or cancelled at the last chunk, when the request had ended.
        let thrown = FirstError()
        onEvent { [weak self] event in
            guard let self else { return }
            let next: Stream<Success, Failure>.Event
            switch event {
            case .stream(let chunk):
                // A chunk that had arrived before a cancellation is not delivered after it.
                guard !isCancelled else { return }
                let result = read(chunk)
                if case .failure = result, cancelsOnStreamError {
                    // Also at the last chunk, when the request has ended.
                    thrown.note(.explicitlyCancelled)
                    cancel()
                }
                next = .stream(result)
            case .complete(let end):
                next = .complete(completion(thrown.error.map { .failure($0) } ?? end))
            }
            let token = CancellationToken(self) { thrown.note(.explicitlyCancelled) }
            guard let failure = await deliver(Stream(event: next, token: token), on: queue, handler) else { return }
            thrown.note(failure)
            cancel(because: failure)
        }
        return self
    }

    /// Calls a handler, and returns the error that it throws.
    private func deliver<Success, Failure>(
        _ stream: Stream<Success, Failure>,
        on queue: DispatchQueue?,
        _ handler: @escaping Handler<Success, Failure>
    ) async -> RefrainError? {
        let call = { @Sendable () -> RefrainError? in
            do {
                try handler(stream)
                return nil
            } catch {
                return Self.failure(error)
            }
        }
        guard let queue else { return call() }
        return await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: call()) }
        }
    }

    private func completion(_ end: Result<Void, RefrainError>) -> Completion {
        var error: RefrainError?
        if case .failure(let failure) = end { error = failure }
        return Completion(request: request, response: response, error: error)
    }

    private static func failure(_ error: any Error) -> RefrainError {
        error as? RefrainError
            ?? .responseSerializationFailed(reason: .customSerializationFailed(error: error, body: []))
    }
}

/// Keeps the first of several errors.
private final class FirstError: Sendable {
    private let first = Mutex<RefrainError?>(nil)

    var error: RefrainError? { first.withLock { $0 } }

    func note(_ error: RefrainError) { first.withLock { $0 = $0 ?? error } }
}

extension Session {
    /// Makes a request whose response is streamed; `automaticallyCancelOnStreamError` is Alamofire's.
    ///
    /// - Parameter automaticallyCancelOnStreamError: whether a chunk of which a serializer makes no value ends the
    ///   request.
    public func streamRequest(
        _ request: some Session.RequestConvertible,
        automaticallyCancelOnStreamError: Bool,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataStreamRequest {
        streamRequest(
            StreamCall(base: request, cancelsOnStreamError: automaticallyCancelOnStreamError),
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume
        )
    }

    /// Makes a request whose response is streamed; `automaticallyCancelOnStreamError` is Alamofire's.
    ///
    /// - Parameter automaticallyCancelOnStreamError: whether a chunk of which a serializer makes no value ends the
    ///   request.
    public func streamRequest(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            url,
            method: method,
            headers: headers,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume
        ) { request in
            try requestModifier?(&request)
            request[option: CancelsOnStreamError.self] = automaticallyCancelOnStreamError
        }
    }
}

extension DataStreamRequest {
    /// Whether a chunk of which a serializer makes no value ends the request.
    public var automaticallyCancelOnStreamError: Bool { cancelsOnStreamError }

    private var cancelsOnStreamError: Bool { request?[option: CancelsOnStreamError.self] ?? false }
}

/// A request that says what an error of its stream does.
private struct StreamCall<Base: Session.RequestConvertible>: Session.RequestConvertible {
    let base: Base
    let cancelsOnStreamError: Bool

    func asHTTPRequest() throws -> HTTPRequest {
        var request = try base.asHTTPRequest()
        request[option: CancelsOnStreamError.self] = cancelsOnStreamError
        return request
    }
}

private enum CancelsOnStreamError: HTTPRequestOption {
    static let defaultValue = false
}

extension DataStreamRequest {
    /// The streams of a request as sequences.
    public struct StreamTask: Sendable {
        private let request: DataStreamRequest

        fileprivate init(_ request: DataStreamRequest) { self.request = request }

        /// The chunks, and the end.
        ///
        /// - Parameter automaticallyCancelling: whether a reader that stops early cancels the request.
        public func streamingData(automaticallyCancelling: Bool = true) -> AsyncStream<Stream<Data, Never>> {
            stream(automaticallyCancelling) { request, handler in
                request.responseStream(on: nil, stream: handler)
            }
        }

        /// The chunks as text, and the end.
        ///
        /// - Parameter automaticallyCancelling: whether a reader that stops early cancels the request.
        public func streamingStrings(automaticallyCancelling: Bool = true) -> AsyncStream<Stream<String, Never>> {
            stream(automaticallyCancelling) { request, handler in
                request.responseStreamString(on: nil, stream: handler)
            }
        }

        /// The chunks decoded, and the end.
        ///
        /// - Parameters:
        ///   - type: the type of the values.
        ///   - automaticallyCancelling: whether a reader that stops early cancels the request.
        public func streamingDecodables<Value: Decodable & Sendable>(
            _ type: Value.Type = Value.self,
            automaticallyCancelling: Bool = true
        ) -> AsyncStream<Stream<Value, RefrainError>> {
            streamingResponses(
                serializedUsing: DecodableStreamSerializer<Value>(),
                automaticallyCancelling: automaticallyCancelling
            )
        }

        /// The values that a serializer makes, and the end.
        ///
        /// - Parameters:
        ///   - serializer: makes the values.
        ///   - automaticallyCancelling: whether a reader that stops early cancels the request.
        public func streamingResponses<Serializer: DataStreamSerializer>(
            serializedUsing serializer: Serializer,
            automaticallyCancelling: Bool = true
        ) -> AsyncStream<Stream<Serializer.SerializedObject, RefrainError>> {
            stream(automaticallyCancelling) { request, handler in
                request.responseStream(using: serializer, on: nil, stream: handler)
            }
        }

        /// Cancels the request.
        public func cancel() { request.cancel() }
        /// Resumes the request.
        public func resume() { request.resume() }
        /// Suspends the request.
        public func suspend() { request.suspend() }

        private func stream<Success, Failure>(
            _ automaticallyCancelling: Bool,
            _ add: (DataStreamRequest, @escaping Handler<Success, Failure>) -> DataStreamRequest
        ) -> AsyncStream<Stream<Success, Failure>> {
            let (stream, continuation) = AsyncStream.makeStream(of: Stream<Success, Failure>.self)
            continuation.onTermination = { [request] reason in
                if automaticallyCancelling, case .cancelled = reason { request.cancel() }
            }
            _ = add(request) { event in
                continuation.yield(event)
                if event.completion != nil { continuation.finish() }
            }
            return stream
        }
    }

    /// The streams of this request as sequences.
    ///
    /// Chunks that are not read are kept in memory; the `chunks` of this request hold the server back instead.
    public func streamTask() -> StreamTask { StreamTask(self) }
}

/// Makes a value of each chunk of a stream.
///
/// A chunk is what the network has brought, and no more: a value that is cut in two is an error. For lines and their
/// values, `HTTPBody.lines(upTo:)` and `HTTPBody.jsonLines(of:)` join the chunks.
public protocol DataStreamSerializer: Sendable {
    /// The type of the values.
    associatedtype SerializedObject: Sendable

    /// Returns the value of a chunk.
    ///
    /// - Throws: an error, which the handler of the stream receives.
    func serialize(_ data: Data) throws -> SerializedObject
}

/// Returns chunks as they are.
public struct PassthroughStreamSerializer: DataStreamSerializer {
    /// Makes the serializer.
    public init() {}

    /// Returns the chunk.
    public func serialize(_ data: Data) -> Data { data }
}

/// Returns chunks as text in UTF-8; bytes that are none are replaced.
public struct StringStreamSerializer: DataStreamSerializer {
    /// Makes the serializer.
    public init() {}

    /// Returns the text of a chunk.
    public func serialize(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }
}

/// Decodes each chunk.
public struct DecodableStreamSerializer<Value: Decodable & Sendable>: DataStreamSerializer {
    private let serializer: Request.DecodableSerializer<Value>

    /// Makes the serializer.
    public init(decoder: any Request.DataDecoder = JSONDecoder(), dataPreprocessor: (any DataPreprocessor)? = nil) {
        serializer = Request.DecodableSerializer(preprocessor: dataPreprocessor, decoder: decoder)
    }

    /// The decoder.
    public var decoder: any Request.DataDecoder { serializer.decoder }

    /// Returns the value of a chunk.
    ///
    /// - Throws: `RefrainError.responseSerializationFailed(reason:attempts:)`; the error of the preprocessor.
    public func serialize(_ data: Data) throws -> Value {
        try serializer.serialize(request: nil, response: nil, data: data, error: nil)
    }
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
    /// Chunks as they are.
    public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
    /// Chunks as text.
    public static var string: StringStreamSerializer { StringStreamSerializer() }
}

extension DataStreamSerializer {
    /// The values of chunks.
    public static func decodable<Value: Decodable & Sendable>(
        of type: Value.Type,
        decoder: any Request.DataDecoder = JSONDecoder(),
        dataPreprocessor: (any DataPreprocessor)? = nil
    ) -> Self where Self == DecodableStreamSerializer<Value> {
        DecodableStreamSerializer(decoder: decoder, dataPreprocessor: dataPreprocessor)
    }
}
