// SPDX-License-Identifier: Apache-2.0
public import Dispatch
internal import RefrainCore
public import RefrainHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Makes requests, which share a chain to a transport, interceptors and monitors.
///
/// ```swift
/// let session = Session(
///     loader: PlatformLoader(), interceptor: .recommendedRetryPolicy
/// )
/// let user = try await session.request(
///     "https://api.example.com/users/1"
/// )
///     .validate()
///     .serializingDecodable(User.self)
///     .value
/// ```
///
/// `RequestPipeline` has the steps of a request in their order. Keep the
/// session for as long as its requests run: they fail with ``RefrainError/sessionDeinitialized`` when it is released.
public final class Session: Sendable {
    /// What a session's stages are made with; the defaults are right for all but tests and special cases.
    public struct Settings: Sendable {
        /// Limits how many exchanges run at a time; nil: the transport's own limits alone hold.
        public var throttle: (any HTTPMiddleware)?
        /// Holds requests back where the server has named the time to come back at; nil: the refused one alone waits.
        ///
        /// By default a 429 with such a time holds the requests with the same origin and credential. Sessions with the
        /// same settings share it.
        public var pacer: Pacer? = Pacer()
        /// Shares one exchange among identical requests in flight; nil: each request has its own.
        ///
        /// Requests with adapters, including authenticated ones, always have their own. Sessions with the same settings
        /// do not share exchanges, because their loaders may act for different users.
        public var deduplicate: Deduplicate?
        /// The retry budgets; nil: no limit.
        public var budgets: Retry.Budgets? = .shared
        /// The clocks that measure delays and that dates are compared with.
        public var clocks = RetryClocks.system
        /// Where jitter comes from.
        public var random = RandomSource.shared
        /// Decodes the values of requests that name no decoder of their own.
        ///
        /// By default a `JSONDecoder` decodes them, on the task that awaits the value. Foundation's takes about 50 µs
        /// for 1 KB of JSON on Linux, twice as long as all else that a request costs. Where that matters, people use
        /// IkigaJSON, or ZippyJSON on Apple platforms: make its decoder conform to ``Request/DataDecoder``, and set it
        /// here.
        public var decoder: any Request.DataDecoder = StandardDecoder()
        /// Whether a request starts when its response is read; if false, it waits for ``Request/resume()``.
        public var startsRequestsImmediately = true

        /// Makes the default settings.
        public init() {}
    }

    /// The settings.
    public let settings: Settings
    /// The interceptor of all requests, which goes before those of each request.
    public let interceptor: (any RequestInterceptor)?

    /// The interceptor of sessions that are given none: `RetryPolicy.recommended`.
    ///
    /// It is not used for a request with a policy or a retrier of its own, nor within `Task.retrying`.
    public static let defaultInterceptor: any RequestInterceptor = DefaultRetryPolicy()
    /// The monitor that receives the events of all requests.
    public var eventMonitor: any EventMonitor { box.monitor }

    /// The state that requests share with this session.
    let box: SessionBox
    let pipeline: RequestPipeline
    /// The session that a refresh's session stands for, which it keeps; nil: this is a session of its own.
    private let base: Session?
    /// The refreshes that the requests are made for.
    let refreshes: [ActiveOperation]
    /// The interceptors of requests that have none of their own.
    let interceptorChain: InterceptorChain

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - loader: the transport, or a chain that ends in one.
    ///   - interceptor: adapts and retries all requests. It replaces the policy that is used when none is given
    ///     (``defaultInterceptor``); to keep both, pass `Interceptor(interceptors: [mine, .recommendedRetryPolicy])`.
    ///     Nil: nothing is adapted or retried.
    ///   - eventMonitors: receive the events of all requests.
    ///   - settings: what the stages are made with.
    public init(
        loader: any HTTPLoader,
        interceptor: (any RequestInterceptor)? = defaultInterceptor,
        eventMonitors: [any EventMonitor] = [],
        settings: Settings = Settings()
    ) {
        self.settings = settings
        self.interceptor = interceptor
        interceptorChain = InterceptorChain(session: interceptor, request: nil)
        pipeline = RequestPipeline(settings, before: loader)
        box = SessionBox(
            monitors: eventMonitors,
            decoder: settings.decoder,
            startsRequestsImmediately: settings.startsRequestsImmediately
        )
        base = nil
        refreshes = []
        box.refer(to: self)
    }

    deinit { if base == nil { box.release() } }

    /// Makes the session that the refresh of a credential is given: this one, whose requests do not wait for the
    /// refresh, whichever task or queue they are made on.
    init(_ base: Session, for refreshes: [ActiveOperation]) {
        settings = base.settings
        interceptor = base.interceptor
        interceptorChain = base.interceptorChain
        pipeline = base.pipeline
        box = base.box
        self.base = base
        self.refreshes = refreshes
    }

    /// Calls `action` with every request that was made and has not ended.
    public func withAllRequests(perform action: (Set<Request>) -> Void) {
        action(Set(box.requests))
    }

    /// Cancels every request that has not ended.
    public func cancelAllRequests() {
        withAllRequests { requests in
            for request in requests { request.cancel() }
        }
    }

    /// Cancels every request that has not ended, and returns when all have ended.
    ///
    /// Called from within a request of this session, as by its adapter or retrier or a task that these began, it
    /// returns at once: that request may end only after the call.
    public func cancelAllRequestsAndWait() async {
        var requests: Set<Request> = []
        withAllRequests { requests = $0 }
        for request in requests { request.cancel() }
        // Nor does it wait for the others, one of which may be doing the same.
        guard !pipeline.admission.isAroundPresentCode else { return }
        for request in requests { await request.ended() }
    }

    /// Cancels every request that has not ended, and calls `completion` when all have ended.
    ///
    /// - Parameters:
    ///   - queue: where `completion` is called. Defaults to nil: any thread.
    ///   - completion: is called once.
    @preconcurrency
    public func cancelAllRequests(
        completingOnQueue queue: DispatchQueue? = nil,
        completion: @escaping @Sendable () -> Void
    ) {
        let completion = queue.dispatching { (_: Void) in completion() }
        Task {
            await cancelAllRequestsAndWait()
            completion(())
        }
    }

    /// Cancels all requests in flight, resets every stage of the chain, and returns when that is done.
    ///
    /// A loader or a throttle that several sessions share is reset for all of them.
    public func reset() async { await pipeline.reset() }

    /// Refuses further requests, and returns when those in flight have ended: a graceful shutdown.
    ///
    /// A request in flight may still make others through the session, as the refresh of a token; they are waited for,
    /// too. Refused requests fail with ``RefrainError/sessionInvalidated(error:)``, and so do those that are left after
    /// the timeout, or that were made and not started. Called from within a request of this session, it waits for that
    /// request until the timeout.
    ///
    /// - Parameter timeout: how long to wait before those that are left are cancelled. Defaults to nil: no limit.
    /// - Returns: whether all requests ended by themselves.
    @discardableResult
    public func drain(timeout: Duration? = nil) async -> Bool {
        box.close(because: .sessionInvalidated(error: nil))
        let isLate = Locked(false)
        let timer = timeout.map { timeout in
            Task { [settings, box] in
                guard await settings.clocks.timer.waits(for: max(.zero, timeout).clampedToDelay) else { return }
                isLate.withLock { $0 = true }
                box.invalidate(because: .sessionInvalidated(error: nil))
            }
        }
        while case let requests = box.requests, !requests.isEmpty {
            if let request = requests.first(where: \.hasStarted) {
                await request.ended()
            } else {
                // Nothing in flight can start them any more, and by themselves they would not end.
                for request in requests {
                    request.cancel(because: .sessionInvalidated(error: nil))
                    await request.ended()
                }
            }
        }
        timer?.cancel()
        return !isLate.withLock { $0 }
    }

    /// Ends the session and its requests in flight.
    ///
    /// They, and later requests, fail with ``RefrainError/sessionInvalidated(error:)``.
    public func invalidate(dueTo error: (any Error)? = nil) {
        box.invalidate(because: .sessionInvalidated(error: error))
    }
}

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

extension Session {
    /// Downloads a URL into the file at a path, as the form that takes a file URL does.
    public func download(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        headers: HTTPHeaders? = nil,
        to path: String,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DownloadRequest {
        download(url, method: method, headers: headers, to: URL(filePath: path), interceptor: interceptor)
    }

    /// Downloads a request into the file at a path, as the form that takes a file URL does.
    public func download(
        _ request: some RequestConvertible,
        to path: String,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DownloadRequest {
        download(request, to: URL(filePath: path), interceptor: interceptor)
    }
}

extension Session {
    /// Sends bytes in memory.
    public func upload(
        _ data: Data,
        to url: some URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            .bytes(data, contentType: nil),
            to: url,
            method: method,
            headers: headers,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume,
            requestModifier: requestModifier
        )
    }

    /// Uploads a local file, which each attempt reads again without loading it into memory.
    ///
    /// - Parameters:
    ///   - fileURL: the file. An unreadable file fails the request with `HTTPError.Code.fileDoesNotExist` or another
    ///     code of local files.
    ///   - url: the URL.
    ///   - method: the method. Defaults to POST.
    ///   - headers: the header fields.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - shouldAutomaticallyResume: whether the request starts when its response is read. Defaults to nil:
    ///     ``Settings/startsRequestsImmediately``.
    ///   - requestModifier: changes the request before it is used.
    public func upload(
        _ fileURL: URL,
        to url: some URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            .file(fileURL.localPath),
            to: url,
            method: method,
            headers: headers,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume,
            requestModifier: requestModifier
        )
    }

    /// Sends any body: `HTTPBody.stream(length:contentType:_:)`, or one that can be read only once.
    public func upload(
        _ body: HTTPBody,
        to url: some URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        let original = RequestFactory(url, method, headers, BodyContent(body: body), requestModifier)
        return uploading(original, interceptor, shouldAutomaticallyResume)
    }

    /// Makes and registers an upload.
    private func uploading(
        _ original: RequestFactory,
        _ interceptor: (any RequestInterceptor)?,
        _ shouldAutomaticallyResume: Bool?
    ) -> UploadRequest {
        adopting(
            UploadRequest(original, interceptors: interceptorChain(with: interceptor), session: box),
            shouldAutomaticallyResume
        )
    }

    /// Uploads a multipart form; files are read while they are sent, whatever their size.
    ///
    /// - Parameters:
    ///   - parts: the parts. An invalid part, or a file that does not exist, fails the request with
    ///     ``RefrainError/createRequestFailed(error:)``.
    ///   - url: the URL.
    ///   - method: the method. Defaults to POST.
    ///   - headers: the header fields.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - shouldAutomaticallyResume: whether the request starts when its response is read. Defaults to nil:
    ///     ``Settings/startsRequestsImmediately``.
    ///   - requestModifier: changes the request before it is used.
    public func upload(
        multipartFormData parts: [HTTPBody.Part],
        to url: some URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        let content = MultipartContent(body: Result { try .multipart(parts) })
        let original = RequestFactory(url, method, headers, content, requestModifier)
        return uploading(original, interceptor, shouldAutomaticallyResume)
    }
}

extension Session {
    /// Downloads a URL to a file.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - method: the method. Only a GET can be resumed; other methods start over, if they may be repeated.
    ///   - parameters: the parameters, encoded by `encoding`.
    ///   - encoding: the encoding and the destination of the parameters.
    ///   - headers: the header fields.
    ///   - fileURL: the file to create or replace. Its folder must exist.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - shouldAutomaticallyResume: whether the request starts when its response is read. Defaults to nil:
    ///     ``Settings/startsRequestsImmediately``.
    ///   - requestModifier: changes the request before it is used.
    public func download(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: HTTPHeaders? = nil,
        to fileURL: URL,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DownloadRequest {
        let content = ParameterContent(parameters: parameters, encoding: encoding)
        let original = RequestFactory(url, method, headers, content, requestModifier)
        return downloading(original, to: .file(fileURL), interceptor, shouldAutomaticallyResume)
    }

    // As for requests: ``Parameters`` are not encoded as any value would be.
    /// Fetches a URL into a file, with parameters that are `Encodable`.
    @_disfavoredOverload
    public func download<Value: Encodable & Sendable>(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Value? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        to fileURL: URL,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DownloadRequest {
        let content = EncodableContent(value: parameters, encoder: encoder)
        let original = RequestFactory(url, method, headers, content, requestModifier)
        return downloading(original, to: .file(fileURL), interceptor, shouldAutomaticallyResume)
    }

    /// Downloads the response to an `HTTPRequest`, or to any value that converts to one, to a file.
    public func download(
        _ request: some RequestConvertible,
        to fileURL: URL,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DownloadRequest {
        downloading(RequestFactory(request), to: .file(fileURL), interceptor, shouldAutomaticallyResume)
    }

    /// Makes and registers a download.
    private func downloading(
        _ original: RequestFactory,
        to target: DownloadRequest.Target,
        resuming resumption: ResumeData? = nil,
        _ interceptor: (any RequestInterceptor)?,
        _ shouldAutomaticallyResume: Bool? = nil
    ) -> DownloadRequest {
        let chain = interceptorChain(with: interceptor)
        let request = DownloadRequest(original, to: target, resuming: resumption, interceptors: chain, session: box)
        return adopting(request, shouldAutomaticallyResume)
    }
}

extension Session {
    /// Downloads a URL to a file that is chosen when the download is complete.
    ///
    /// ```swift
    /// let destination: DownloadRequest.Destination = { _, response in
    ///     (
    ///         folder.appending(path: "image.png"),
    ///         [.createIntermediateDirectories, .removePreviousFile]
    ///     )
    /// }
    /// let saved = try await session.download(url, to: destination)
    ///     .validate()
    ///     .serializingDownloadedFileURL()
    ///     .value
    /// ```
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - method: the method. Only a GET can be resumed; other methods start over, if they may be repeated.
    ///   - parameters: the parameters, encoded by `encoding`.
    ///   - encoding: the encoding and the destination of the parameters.
    ///   - headers: the header fields.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - shouldAutomaticallyResume: whether the request starts when its response is read. Defaults to nil:
    ///     ``Settings/startsRequestsImmediately``.
    ///   - requestModifier: changes the request of each attempt before it is used.
    ///   - destination: chooses the file. Defaults to nil: a temporary file, which the caller removes.
    public func download(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        let content = ParameterContent(parameters: parameters, encoding: encoding)
        let original = RequestFactory(url, method, headers, content, requestModifier)
        return downloading(original, to: .chosen(destination), interceptor, shouldAutomaticallyResume)
    }

    // As for requests: ``Parameters`` are not encoded as any value would be.
    /// Downloads a URL to a file that is chosen later, with parameters that are `Encodable`.
    @_disfavoredOverload
    public func download<Value: Encodable & Sendable>(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Value? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        let content = EncodableContent(value: parameters, encoder: encoder)
        let original = RequestFactory(url, method, headers, content, requestModifier)
        return downloading(original, to: .chosen(destination), interceptor, shouldAutomaticallyResume)
    }

    /// Downloads the response to any value that converts to an `HTTPRequest` to a file that is chosen later.
    public func download(
        _ request: some RequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        downloading(RequestFactory(request), to: .chosen(destination), interceptor, shouldAutomaticallyResume)
    }

    /// Goes on with a download that was cancelled with ``DownloadRequest/cancel(producingResumeData:)``.
    ///
    /// It requests the rest with `Range` and `If-Range` (RFC 9110 §13.1.5, §14.2), and starts over if the content has
    /// changed or the bytes are gone. Data of another kind fails the request with
    /// ``RefrainError/createRequestFailed(error:)``.
    ///
    /// - Parameters:
    ///   - data: the ``DownloadRequest/resumeData``. It contains no credentials; pass an interceptor that adds them.
    ///   - fileURL: the file to create or replace, on the volume of the first download's file.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    public func download(
        resumingWith data: Data,
        to fileURL: URL,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DownloadRequest {
        resuming(data, to: .file(fileURL), interceptor)
    }

    /// Goes on with a cancelled download, to a file that is chosen when it is complete.
    ///
    /// - Parameters:
    ///   - data: the ``DownloadRequest/resumeData``. It contains no credentials; pass an interceptor that adds them.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - destination: chooses the file. Defaults to nil: a temporary file, which the caller removes.
    public func download(
        resumingWith data: Data,
        interceptor: (any RequestInterceptor)? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest { resuming(data, to: .chosen(destination), interceptor) }

    private func resuming(
        _ data: Data,
        to target: DownloadRequest.Target,
        _ interceptor: (any RequestInterceptor)?
    ) -> DownloadRequest {
        let resumption = Result { try ResumeData(decoding: data) }
        let original = RequestFactory(ResumedRequest(resumption: resumption))
        return downloading(original, to: target, resuming: try? resumption.get(), interceptor)
    }
}

private struct ResumedRequest: Session.RequestConvertible {
    let resumption: Result<ResumeData, any Error>

    func asHTTPRequest() throws -> HTTPRequest { try resumption.get().request() }
}

extension HTTPLoader {
    /// Resets the loader, and leaves `group` when no request is in flight.
    ///
    /// ```swift
    /// let group = DispatchGroup()
    /// loader.reset(with: group)
    /// group.notify(queue: .main) { print("no request is in flight") }
    /// ```
    public func reset(with group: DispatchGroup) {
        group.enter()
        reset { group.leave() }
    }
}

extension Session {
    /// Uploads bytes in memory as the body of a request, or of any value that converts to one.
    public func upload(
        _ data: Data,
        with request: some RequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> UploadRequest {
        upload(
            .data(data),
            with: request,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume
        )
    }

    /// Uploads a local file as the body of a request, or of any value that converts to one.
    public func upload(
        _ fileURL: URL,
        with request: some RequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> UploadRequest {
        upload(
            .file(fileURL.localPath),
            with: request,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume
        )
    }

    /// Uploads any body as that of a request, or of any value that converts to one.
    public func upload(
        _ body: HTTPBody,
        with request: some RequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> UploadRequest {
        let original = RequestFactory(CompletedRequest(request: request, body: body))
        return uploading(original, interceptor, shouldAutomaticallyResume)
    }
}

private struct CompletedRequest<Base: Session.RequestConvertible>: Session.RequestConvertible {
    let request: Base
    let body: HTTPBody

    func asHTTPRequest() throws -> HTTPRequest {
        var request = try request.asHTTPRequest()
        request.setContent(body)
        return request
    }
}
