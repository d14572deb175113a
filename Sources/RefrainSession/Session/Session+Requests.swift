extension Session {
    /// Changes a request before it is used.
    public typealias RequestModifier = @Sendable (inout HTTPRequest) throws -> Void

    /// Makes a request from a URL: text, a `URL`, or any ``URLConvertible``.
    ///
    /// - Parameters:
    ///   - url: the URL. An invalid URL fails the request with ``RefrainError/invalidURL(error:)``.
    ///   - method: the method. Defaults to GET.
    ///   - parameters: the parameters, encoded by `encoding`.
    ///   - encoding: the encoding and the destination of the parameters.
    ///   - headers: the header fields.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - shouldAutomaticallyResume: whether the request starts when its response is read. Defaults to nil:
    ///     ``Settings/startsRequestsImmediately``.
    ///   - requestModifier: changes the request before it is used, for example sets its deadline.
    public func request(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        let content = ParameterContent(parameters: parameters, encoding: encoding)
        let original = RequestFactory(url, method, headers, content, requestModifier)
        return adopting(
            DataRequest(original, interceptors: interceptorChain(with: interceptor), session: box),
            shouldAutomaticallyResume
        )
    }

    // Parameters are Encodable, too; where both forms fit, they are not encoded as any value would be.
    /// Makes a request from a URL, with parameters that are `Encodable`.
    @_disfavoredOverload
    public func request<Value: Encodable & Sendable>(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Value? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        let content = EncodableContent(value: parameters, encoder: encoder)
        let original = RequestFactory(url, method, headers, content, requestModifier)
        return adopting(
            DataRequest(original, interceptors: interceptorChain(with: interceptor), session: box),
            shouldAutomaticallyResume
        )
    }

    /// Makes a request from an `HTTPRequest`, or anything that can be made into one.
    public func request(
        _ request: some RequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataRequest {
        adopting(
            DataRequest(RequestFactory(request), interceptors: interceptorChain(with: interceptor), session: box),
            shouldAutomaticallyResume
        )
    }

    /// The interceptors of a request, the session's first.
    func interceptorChain(with interceptor: (any RequestInterceptor)?) -> InterceptorChain {
        interceptor == nil ? interceptorChain : InterceptorChain(session: self.interceptor, request: interceptor)
    }

    /// Registers a request, or ends it if the session was invalidated.
    func adopting<Kind: Request>(_ request: Kind, _ shouldAutomaticallyResume: Bool? = nil) -> Kind {
        if let shouldAutomaticallyResume { request.startsImmediately = shouldAutomaticallyResume }
        request.refreshes = refreshes
        let invalidation = box.adopt(request)
        request.watcher?.requestDidCreate(request)
        if let invalidation { request.cancel(because: invalidation) }
        return request
    }
}
