#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
