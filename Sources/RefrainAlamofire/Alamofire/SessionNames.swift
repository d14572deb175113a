// SPDX-License-Identifier: Apache-2.0
public import Dispatch

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Session {
    /// Makes a session with the platform's transport; the parameters are Alamofire's.
    ///
    /// - Parameters:
    ///   - configuration: the settings of the transport. Defaults to nil: its own.
    ///   - rootQueue: unused: a session has no queues of its own, and its state is safe from any thread.
    ///   - startRequestsImmediately: whether requests start when their responses are read. Defaults to true.
    ///   - requestQueue: unused, as `rootQueue`.
    ///   - serializationQueue: unused, as `rootQueue`.
    ///   - interceptor: adapts and retries all requests. Defaults to the recommended policy.
    ///   - redirectHandler: decides about the redirects of all requests that have none of their own. Defaults to nil:
    ///     they are followed.
    ///   - cachedResponseHandler: unused: no response is cached.
    ///   - eventMonitors: the monitors that receive the events of all requests.
    @_disfavoredOverload
    public convenience init(
        configuration: SessionConfiguration? = nil,
        rootQueue: DispatchQueue? = nil,
        startRequestsImmediately: Bool = true,
        requestQueue: DispatchQueue? = nil,
        serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = defaultInterceptor,
        redirectHandler: Redirector? = nil,
        cachedResponseHandler: ResponseCacher? = nil,
        eventMonitors: [any EventMonitor] = []
    ) {
        var settings = Settings()
        settings.startsRequestsImmediately = startRequestsImmediately
        let redirects: [any EventMonitor] = redirectHandler.map { [Redirector.Monitor(redirector: $0)] } ?? []
        let monitors = (configuration?.monitors ?? []) + redirects + eventMonitors
        guard let configuration else {
            self.init(interceptor: interceptor, eventMonitors: monitors, settings: settings)
            return
        }
        self.init(
            loader: configuration.loader,
            interceptor: interceptor,
            eventMonitors: monitors,
            settings: settings
        )
    }

    /// Whether requests start when their responses are read.
    public var startRequestsImmediately: Bool { settings.startsRequestsImmediately }

    /// A serial queue for handlers that share state; all sessions have the same one, and run nothing else on it.
    ///
    /// Completions are called after the handlers of progress that were called on it.
    public var rootQueue: DispatchQueue { Self.callbackQueue }
    /// The ``rootQueue``.
    public var requestQueue: DispatchQueue { Self.callbackQueue }
    /// The ``rootQueue``.
    public var serializationQueue: DispatchQueue { Self.callbackQueue }

    static let callbackQueue = DispatchQueue(label: "refrain.session.callbacks")
}

extension Request {
    /// The state of the request.
    public var state: State { currentState }

    /// Sends a user and a password with the request, by Basic authentication.
    ///
    /// They are sent at once and not when a server asks for them; other methods of authentication have interceptors.
    /// Call it before the request starts; later it has no effect.
    @discardableResult
    public func authenticate(username: String, password: String) -> Self {
        beforeStart { $0.headers.add(.authorization(username: username, password: password)) }
        return self
    }

    /// The number of bytes of a transfer, as Alamofire's progress names them.
    public struct Progress: Hashable, Sendable {
        /// The number of bytes that were transferred.
        public let completedUnitCount: Int64
        /// The number of all bytes; -1 if it is unknown.
        public let totalUnitCount: Int64
        /// The completed fraction, 0 … 1; 0 if the number of all bytes is unknown.
        public let fractionCompleted: Double

        init(_ progress: Request.TransferProgress) {
            completedUnitCount = progress.completed
            totalUnitCount = progress.total ?? -1
            fractionCompleted = progress.fractionCompleted ?? 0
        }

        /// Whether all bytes were transferred.
        public var isFinished: Bool { completedUnitCount == totalUnitCount }
    }

    /// Adds a handler of the progress of the request's body, called on a queue.
    @preconcurrency
    @discardableResult
    public func uploadProgress(queue: DispatchQueue, closure: @escaping @Sendable (Progress) -> Void) -> Self {
        completingAfterHandlers(on: queue)
        return uploadProgress { (progress: Request.TransferProgress) in queue.async { closure(Progress(progress)) } }
    }

    /// Adds a handler of the progress of the response's body, called on a queue.
    @preconcurrency
    @discardableResult
    public func downloadProgress(queue: DispatchQueue, closure: @escaping @Sendable (Progress) -> Void) -> Self {
        completingAfterHandlers(on: queue)
        return downloadProgress { (progress: Request.TransferProgress) in queue.async { closure(Progress(progress)) } }
    }

    /// Has completions wait for the handlers on the session's queue; another queue may be blocked until one is called.
    private func completingAfterHandlers(on queue: DispatchQueue) {
        guard queue === Session.callbackQueue else { return }
        whenEnded(isFirst: true) { await withCheckedContinuation { done in queue.async { done.resume() } } }
    }
}

extension UploadRequest {
    /// What an upload sends, under Alamofire's names.
    public enum Uploadable: Sendable {
        /// Bytes in memory.
        case data(Data)
        /// A stream: a file, or a form of more than its threshold, which no file holds as a whole.
        case stream(HTTPBody)
    }

    /// What is sent; nil if the request could not be made.
    public var uploadable: Uploadable? {
        guard let body = request?.body else { return nil }
        return body.dataInMemory.map { .data($0) } ?? .stream(body)
    }
}
