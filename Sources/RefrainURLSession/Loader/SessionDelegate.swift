// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Foundation
internal import RefrainHTTP

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The delegate of URLSession: finds the exchange of each task, and forwards events to it.
final class SessionDelegate: NSObject, @unchecked Sendable {
    // @unchecked Sendable: mutable state is accessed only on `queue`, where URLSession also calls the delegate.

    /// The queue of all exchanges.
    let queue = DispatchQueue(label: "refrain-urlsession")
    /// The queue on which URLSession is called.
    let tasks = TaskQueue()
    private let calls = OperationQueue()
    private let configuration: URLSessionConfiguration
    private let serverTrust: ServerTrust?
    /// Nil before the first request and after the shutdown.
    private var session: URLSession?
    private var isClosed = false
    /// The exchanges by task.
    ///
    /// Each exchange retains its task, so a key is not reused.
    private var exchanges: [ObjectIdentifier: Exchange] = [:]
    /// The exchanges that were started; some have no task yet.
    private var underWay: [ObjectIdentifier: Exchange] = [:]
    private var waiters: [(pending: Set<ObjectIdentifier>, continuation: CheckedContinuation<Void, Never>)] = []

    /// Copies a configuration without the functions that the chain provides.
    init(_ configuration: URLSessionConfiguration, serverTrust: ServerTrust?) {
        self.serverTrust = serverTrust
        let own = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
        own.urlCache = nil
        own.requestCachePolicy = .reloadIgnoringLocalCacheData
        own.httpCookieStorage = nil
        own.httpCookieAcceptPolicy = .never
        own.httpShouldSetCookies = false
        own.urlCredentialStorage = nil
        // This loader enforces the time limits, to the millisecond; URLSession's are set to a week.
        own.timeoutIntervalForRequest = 604_800
        own.timeoutIntervalForResource = 604_800
        #if canImport(Darwin)
        own.waitsForConnectivity = false
        #endif
        self.configuration = own
        super.init()
        calls.maxConcurrentOperationCount = 1
        calls.underlyingQueue = queue
    }

    // MARK: From any thread

    /// Starts an exchange; resumes the continuation exactly once.
    func begin(_ exchange: Exchange, _ continuation: CheckedContinuation<Void, Never>) {
        queue.async { [self] in
            exchange.continuation = continuation
            guard !isClosed else { return exchange.refuse(.sessionInvalidated, "the loader was shut down") }
            guard !exchange.wasCancelled else { return exchange.refuse(.cancelled, "the task was cancelled") }
            do throws(HTTPError) {
                _ = try serverTrust?.evaluator(for: exchange.request)
            } catch {
                return exchange.refuse(error.code, error.message)
            }
            start(exchange)
        }
    }

    func cancel(_ exchange: Exchange) {
        queue.async {
            exchange.wasCancelled = true
            exchange.stop(.cancelled, "the task was cancelled")
        }
    }

    /// Called when the reader of a body has made room.
    func unpause(_ exchange: Exchange) { queue.async { exchange.unpause() } }

    /// Called when the body will not be read.
    func discard(_ exchange: Exchange) { queue.async { exchange.discard() } }

    /// Ends all exchanges; resumes the continuation when all of them have ended.
    func endAll(_ code: HTTPError.Code, _ message: String, _ continuation: CheckedContinuation<Void, Never>) {
        queue.async { [self] in
            guard !underWay.isEmpty else { return continuation.resume() }
            waiters.append((Set(underWay.keys), continuation))
            for exchange in underWay.values { exchange.stop(code, message) }
        }
    }

    /// Refuses further requests; URLSession releases this delegate when its last task has ended.
    func close() {
        queue.async { [self] in
            isClosed = true
            if let session { tasks.run { session.finishTasksAndInvalidate() } }
            session = nil
        }
    }

    // MARK: On the queue

    private func start(_ exchange: Exchange) {
        let session: URLSession
        if exchange.request.needsFreshConnection {
            // Connections belong to a session; a session for a single request has only new ones.
            session = makeSession()
        } else {
            session = self.session ?? makeSession()
            self.session = session
        }
        let isOwn = session !== self.session
        underWay[ObjectIdentifier(exchange)] = exchange
        exchange.watchTime()
        tasks.run(from: queue) {
            exchange.makeTask(in: session)
        } then: { [self] made in
            begin(exchange, made)
            if isOwn { tasks.run { session.finishTasksAndInvalidate() } }
        }
    }

    /// Starts the task of an exchange, unless the exchange has ended.
    private func begin(_ exchange: Exchange, _ made: Result<Exchange.Made, HTTPError>) {
        let task = try? made.get().task
        if exchange.take(made), let task {
            exchanges[ObjectIdentifier(task)] = exchange
            tasks.run { task.resume() }
        } else {
            if let task { tasks.run { task.cancel() } }
            forget(exchange)
        }
    }

    private func makeSession() -> URLSession {
        URLSession(configuration: configuration, delegate: self, delegateQueue: calls)
    }

    private func exchange(of task: URLSessionTask) -> Exchange? { exchanges[ObjectIdentifier(task)] }

    private func forget(_ exchange: Exchange) {
        let key = ObjectIdentifier(exchange)
        underWay[key] = nil
        for index in waiters.indices { waiters[index].pending.remove(key) }
        for waiter in waiters where waiter.pending.isEmpty { waiter.continuation.resume() }
        waiters.removeAll { $0.pending.isEmpty }
    }
}

extension SessionDelegate: URLSessionDataDelegate {
    /// Returns a redirect as a response; the chain follows it.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// URLSession requests the body again; a stream is not sent twice.
    ///
    /// On Linux this is called on a queue of URLSession's own, and also for requests without a body.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(nil)
        queue.async { self.exchange(of: task)?.refuseToSendAgain() }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchange(of: task)?.didSend(totalBytesSent)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(response)
        // An exchange that rejects the body has already cancelled its task.
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    #if canImport(Security)
    /// Evaluates servers only; the chain handles the response to a request without credentials.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let host = challenge.protectionSpace.host
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let evaluator = serverTrust?.evaluator(forHost: host), evaluator != .system,
            let trust = challenge.protectionSpace.serverTrust
        else { return completionHandler(.performDefaultHandling, nil) }
        if let objection = ServerTrustEvaluator.objection(to: trust, host: host, by: evaluator) {
            exchange(of: task)?.stop(.serverCertificateUntrusted, objection)
            completionHandler(.cancelAuthenticationChallenge, nil)
        } else {
            completionHandler(.useCredential, URLCredential(trust: trust))
        }
    }
    #elseif canImport(FoundationNetworking)
    /// Provides no credentials; the chain sends them.
    ///
    /// FoundationNetworking calls this when a 401 has been received, and never ends a task for which default handling
    /// is chosen. Therefore the task is cancelled, and the exchange records why.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        exchange(of: task)?.noteChallenge()
        completionHandler(.cancelAuthenticationChallenge, nil)
    }
    #endif

    #if canImport(Darwin)
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        exchange(of: task)?.note(metrics)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(nil)
    }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchange(of: task) else { return }
        exchange.complete(error)
        exchanges[ObjectIdentifier(task)] = nil
        forget(exchange)
    }
}
