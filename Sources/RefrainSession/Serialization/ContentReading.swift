// SPDX-License-Identifier: Apache-2.0
public import Dispatch

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Request {
    /// A request whose content is read as a whole: in memory by ``DataRequest``, from a file by ``DownloadRequest``.
    ///
    /// Every form below starts the request, unless its session requires ``Request/resume()``.
    public protocol ContentReading: Request {
        /// Starts the request, and calls `completion` with the value of a serializer.
        ///
        /// - Parameters:
        ///   - queue: where `completion` is called. Defaults to nil: any thread.
        ///   - serializer: makes the value; it is called for each attempt.
        ///   - completion: receives the response.
        @preconcurrency
        @discardableResult
        func response<Serializer: ResponseSerializer>(
            queue: DispatchQueue?,
            using serializer: Serializer,
            completion: @escaping @Sendable (DataResponse<Serializer.Value, RefrainError>) -> Void
        ) -> Self

        /// Starts the request, and returns a task for the value of a serializer.
        ///
        /// - Parameters:
        ///   - serializer: makes the value; it is called for each attempt.
        ///   - automaticallyCancelling: whether the cancellation of a task that awaits the value cancels the request.
        func serializing<Serializer: ResponseSerializer>(
            using serializer: Serializer,
            automaticallyCancelling: Bool
        ) -> ResponseTask<Serializer.Value>
    }
}

extension Request.ContentReading {
    /// As ``response(queue:using:completion:)``, with the content as bytes.
    ///
    /// - Parameters:
    ///   - queue: where `completion` is called. Defaults to nil: any thread.
    ///   - preprocessor: changes the bytes before they are used. Defaults to nil: nothing does.
    ///   - emptyResponses: the responses that may be empty. Defaults to HEAD, 204 and 205.
    ///   - completion: receives the response.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func responseData(
        queue: DispatchQueue? = nil,
        preprocessor: (any Request.DataSerializer.Preprocessor)? = nil,
        emptyResponses: Empty.Rules = .standard,
        completion: @escaping @Sendable (DataResponse<Data, RefrainError>) -> Void
    ) -> Self {
        let serializer = Request.DataSerializer(preprocessor: preprocessor, emptyResponses: emptyResponses)
        return response(queue: queue, using: serializer, completion: completion)
    }

    /// As ``response(queue:using:completion:)``, with the content as text.
    ///
    /// - Parameters:
    ///   - queue: where `completion` is called. Defaults to nil: any thread.
    ///   - preprocessor: changes the bytes before they are used. Defaults to nil: nothing does.
    ///   - encoding: the encoding of the text. Defaults to nil: the response's `charset`, else UTF-8.
    ///   - emptyResponses: the responses that may be empty. Defaults to HEAD, 204 and 205.
    ///   - completion: receives the response.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func responseString(
        queue: DispatchQueue? = nil,
        preprocessor: (any Request.DataSerializer.Preprocessor)? = nil,
        encoding: String.Encoding? = nil,
        emptyResponses: Empty.Rules = .standard,
        completion: @escaping @Sendable (DataResponse<String, RefrainError>) -> Void
    ) -> Self {
        let serializer = Request.StringSerializer(
            preprocessor: preprocessor,
            encoding: encoding,
            emptyResponses: emptyResponses
        )
        return response(queue: queue, using: serializer, completion: completion)
    }

    /// As ``response(queue:using:completion:)``, with the content decoded.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - queue: where `completion` is called. Defaults to nil: any thread.
    ///   - preprocessor: changes the bytes before they are used. Defaults to nil: nothing does.
    ///   - decoder: the decoder. Defaults to nil: the session's (``Session/Settings/decoder``).
    ///   - emptyResponses: the responses that may be empty, where the type has a value for them. Defaults to HEAD, 204
    ///     and 205.
    ///   - completion: receives the response.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        queue: DispatchQueue? = nil,
        preprocessor: (any Request.DataSerializer.Preprocessor)? = nil,
        decoder: (any Request.DataDecoder)? = nil,
        emptyResponses: Empty.Rules = .standard,
        completion: @escaping @Sendable (DataResponse<Value, RefrainError>) -> Void
    ) -> Self {
        let serializer = Request.DecodableSerializer<Value>(
            preprocessor: preprocessor,
            decoder: decoder ?? sessionBox.decoder,
            emptyResponses: emptyResponses
        )
        return response(queue: queue, using: serializer, completion: completion)
    }

    /// As ``serializing(using:automaticallyCancelling:)``, with the content as bytes.
    ///
    /// - Parameters:
    ///   - automaticallyCancelling: whether the cancellation of a task that awaits the value cancels the request.
    ///     Defaults to true.
    ///   - preprocessor: changes the bytes before they are used. Defaults to nil: nothing does.
    ///   - emptyResponses: the responses that may be empty. Defaults to HEAD, 204 and 205.
    public func serializingData(
        automaticallyCancelling: Bool = true,
        preprocessor: (any Request.DataSerializer.Preprocessor)? = nil,
        emptyResponses: Empty.Rules = .standard
    ) -> Request.ResponseTask<Data> {
        serializing(
            using: Request.DataSerializer(preprocessor: preprocessor, emptyResponses: emptyResponses),
            automaticallyCancelling: automaticallyCancelling
        )
    }

    /// As ``serializing(using:automaticallyCancelling:)``, with the content as text.
    ///
    /// - Parameters:
    ///   - automaticallyCancelling: whether the cancellation of a task that awaits the value cancels the request.
    ///     Defaults to true.
    ///   - preprocessor: changes the bytes before they are used. Defaults to nil: nothing does.
    ///   - encoding: the encoding of the text. Defaults to nil: the response's `charset`, else UTF-8.
    ///   - emptyResponses: the responses that may be empty. Defaults to HEAD, 204 and 205.
    public func serializingString(
        automaticallyCancelling: Bool = true,
        preprocessor: (any Request.DataSerializer.Preprocessor)? = nil,
        encoding: String.Encoding? = nil,
        emptyResponses: Empty.Rules = .standard
    ) -> Request.ResponseTask<String> {
        serializing(
            using: Request.StringSerializer(
                preprocessor: preprocessor,
                encoding: encoding,
                emptyResponses: emptyResponses
            ),
            automaticallyCancelling: automaticallyCancelling
        )
    }

    /// As ``serializing(using:automaticallyCancelling:)``, with the content decoded.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - automaticallyCancelling: whether the cancellation of a task that awaits the value cancels the request.
    ///     Defaults to true.
    ///   - preprocessor: changes the bytes before they are used. Defaults to nil: nothing does.
    ///   - decoder: the decoder. Defaults to nil: the session's (``Session/Settings/decoder``).
    ///   - emptyResponses: the responses that may be empty, where the type has a value for them. Defaults to HEAD, 204
    ///     and 205.
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        automaticallyCancelling: Bool = true,
        preprocessor: (any Request.DataSerializer.Preprocessor)? = nil,
        decoder: (any Request.DataDecoder)? = nil,
        emptyResponses: Empty.Rules = .standard
    ) -> Request.ResponseTask<Value> {
        serializing(
            using: Request.DecodableSerializer(
                preprocessor: preprocessor,
                decoder: decoder ?? sessionBox.decoder,
                emptyResponses: emptyResponses
            ),
            automaticallyCancelling: automaticallyCancelling
        )
    }

    /// Calls `completion` on a queue when the request has ended, and starts the request.
    func complete<Value>(
        on queue: DispatchQueue?,
        _ completion: @escaping @Sendable (DataResponse<Value, RefrainError>) -> Void,
        read: @escaping Request.Reader<Value>
    ) -> Self {
        let completion = queue.dispatching(completion)
        whenEnded { [self] in completion(DataResponse(of: self, read)) }
        startIfWanted()
        return self
    }
}
