internal import Dispatch
internal import Foundation
internal import RefrainHTTP

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// What URLSession talks to: finds the exchange of each task, and passes on what it is told.
final class SessionDelegate: NSObject, @unchecked Sendable {
    // @unchecked Sendable: what can change is touched on `queue` alone, where URLSession calls the delegate as well.

    /// Where everything happens.
    let queue = DispatchQueue(label: "refrain-urlsession")
    /// Where URLSession is told what to do.
    let orders = TaskOrders()
    private let calls = OperationQueue()
    private let configuration: URLSessionConfiguration
    private let serverTrust: ServerTrust?
    /// Nil before the first request, and after the end.
    private var session: URLSession?
    private var isClosed = false
    /// By task; each exchange holds its task, so that no other one gets the same key.
    private var exchanges: [ObjectIdentifier: Exchange] = [:]
    /// Those that have begun, by themselves; some of them have no task yet.
    private var underWay: [ObjectIdentifier: Exchange] = [:]
    private var waiters: [(pending: Set<ObjectIdentifier>, continuation: CheckedContinuation<Void, Never>)] = []

    /// Takes over a configuration, less what is the chain's to do.
    init(_ configuration: URLSessionConfiguration, serverTrust: ServerTrust?) {
        self.serverTrust = serverTrust
        let own = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
        own.urlCache = nil
        own.requestCachePolicy = .reloadIgnoringLocalCacheData
        own.httpCookieStorage = nil
        own.httpCookieAcceptPolicy = .never
        own.httpShouldSetCookies = false
        own.urlCredentialStorage = nil
        // Times are kept here, to the millisecond; these are URLSession's own, a week.
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

    /// Takes a request over; the continuation is resumed exactly once.
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

    /// The reader of the body has made room.
    func unpause(_ exchange: Exchange) { queue.async { exchange.unpause() } }

    /// Nobody will read the body.
    func discard(_ exchange: Exchange) { queue.async { exchange.discard() } }

    /// Ends what is under way; the continuation is resumed when all of it has ended.
    func endAll(_ code: HTTPError.Code, _ message: String, _ continuation: CheckedContinuation<Void, Never>) {
        queue.async { [self] in
            guard !underWay.isEmpty else { return continuation.resume() }
            waiters.append((Set(underWay.keys), continuation))
            for exchange in underWay.values { exchange.stop(code, message) }
        }
    }

    /// Takes no further requests; URLSession lets go of this when the last task has ended.
    func close() {
        queue.async { [self] in
            isClosed = true
            if let session { orders.give { session.finishTasksAndInvalidate() } }
            session = nil
        }
    }

    // MARK: On the queue

    private func start(_ exchange: Exchange) {
        let session: URLSession
        if exchange.request.needsFreshConnection {
            // A session's connections are its own: one that serves a single request has none that served before.
            session = makeSession()
        } else {
            session = self.session ?? makeSession()
            self.session = session
        }
        let isOwn = session !== self.session
        underWay[ObjectIdentifier(exchange)] = exchange
        exchange.watchTime()
        orders.give(from: queue) {
            exchange.makeTask(in: session)
        } then: { [self] made in
            begin(exchange, made)
            if isOwn { orders.give { session.finishTasksAndInvalidate() } }
        }
    }

    /// Begins the task that was made for an exchange, unless that has ended in the meantime.
    private func begin(_ exchange: Exchange, _ made: Result<Exchange.Made, HTTPError>) {
        let task = try? made.get().task
        if exchange.take(made), let task {
            exchanges[ObjectIdentifier(task)] = exchange
            orders.give { task.resume() }
        } else {
            if let task { orders.give { task.cancel() } }
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
    /// A redirect is a response like any other; the chain follows it, or does not.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// URLSession wants the body a second time: a stream is not sent twice (rules R3 and R4).
    ///
    /// On Linux this is asked on a queue of URLSession's own, and for requests without a body as well.
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
        // An exchange that does not want the body has cancelled its task.
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    #if canImport(Security)
    /// Only servers are judged here; what they answer to a request without credentials is the chain's to treat.
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
        if let objection = TrustJudge.objection(to: trust, host: host, by: evaluator) {
            exchange(of: task)?.stop(.serverCertificateUntrusted, objection)
            completionHandler(.cancelAuthenticationChallenge, nil)
        } else {
            completionHandler(.useCredential, URLCredential(trust: trust))
        }
    }
    #elseif canImport(FoundationNetworking)
    /// Credentials are the chain's to send; here there are none.
    ///
    /// FoundationNetworking asks when a 401 has come to its end, and never ends the task of one who leaves the answer
    /// to it. So the task is cancelled, and the exchange knows why.
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
