extension Session {
    /// Makes a request from a URL: text, a `URL`, or anything that is ``URLConvertible``.
    ///
    /// - Parameters:
    ///   - url: where the request goes. What is no URL fails the request with ``RefrainError/invalidURL(error:)``.
    ///   - method: what is asked.
    ///   - parameters: what is sent along, by `encoding`.
    ///   - encoding: where the parameters go, and how.
    ///   - headers: the header fields.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - requestModifier: changes the request before it is used, for instance to set its deadline.
    public func request(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: HTTPHeaders = [:],
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: (@Sendable (inout HTTPRequest) throws -> Void)? = nil
    ) -> DataRequest {
        let original = RequestMaking.make(url, method, headers, requestModifier) { request in
            try encoding.encode(request, with: parameters)
        }
        return adopting(DataRequest(original, line: line(interceptor), session: reference))
    }

    /// Makes a request from a URL, with parameters that are `Encodable`.
    public func request<Value: Encodable & Sendable>(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Value,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders = [:],
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: (@Sendable (inout HTTPRequest) throws -> Void)? = nil
    ) -> DataRequest {
        let original = RequestMaking.make(url, method, headers, requestModifier) { request in
            try encoder.encode(parameters, into: request)
        }
        return adopting(DataRequest(original, line: line(interceptor), session: reference))
    }

    /// Makes a request from an `HTTPRequest`, or anything that can be made into one.
    public func request(
        _ request: some HTTPRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        adopting(DataRequest(RequestMaking.make(request), line: line(interceptor), session: reference))
    }

    /// The interceptors of a request, the session's first.
    func line(_ interceptor: (any RequestInterceptor)?) -> InterceptorLine {
        interceptor == nil ? line : InterceptorLine(session: self.interceptor, request: interceptor)
    }

    /// Takes a request into care, or ends it where the session takes none any more.
    func adopting<Kind: Request>(_ request: Kind) -> Kind {
        let invalidation = reference.adopt(request)
        request.watcher?.requestDidCreate(request)
        if let invalidation { request.cancel(because: invalidation) }
        return request
    }
}
