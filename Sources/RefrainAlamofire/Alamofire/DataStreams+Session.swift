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
        streamRequest(request, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
            .cancelling(onStreamError: automaticallyCancelOnStreamError)
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
            shouldAutomaticallyResume: shouldAutomaticallyResume,
            requestModifier: requestModifier
        ).cancelling(onStreamError: automaticallyCancelOnStreamError)
    }
}

extension DataStreamRequest {
    /// Whether a chunk of which a serializer makes no value ends the request.
    public var automaticallyCancelOnStreamError: Bool { cancelsOnStreamError }

    var cancelsOnStreamError: Bool { request?[option: CancelsOnStreamError.self] ?? false }

    fileprivate func cancelling(onStreamError: Bool) -> Self {
        if onStreamError { beforeStart { $0[option: CancelsOnStreamError.self] = true } }
        return self
    }
}

private enum CancelsOnStreamError: HTTPRequestOption {
    static let defaultValue = false
}
