internal import Dispatch
internal import Foundation
internal import RefrainCore
internal import RefrainHTTP

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One request on its way through URLSession, and what has become of it so far.
final class Exchange: @unchecked Sendable {
    // @unchecked Sendable: until `begin` an exchange belongs to the task that made it, afterwards to `queue`.
    let request: HTTPRequest
    let queue: DispatchQueue
    private let orders: TaskOrders
    var continuation: CheckedContinuation<Void, Never>?
    var wasCancelled = false
    var isFinished = false
    /// Whether URLSession has asked for credentials, which it does here when the whole of a 401 has come.
    private var wasAskedForCredentials = false
    /// Why the exchange was stopped from this side.
    var stopReason: HTTPError?
    var evidence = SendEvidence()

    // By way of a lock and not of the continuation: where that is resumed before its task was suspended, the thread
    // sanitizer does not see that the one came before the other.
    private let result = Locked<HTTPResult?>(nil)

    private(set) var task: URLSessionTask?
    private var feed: UploadFeed?
    private var timer: (any DispatchSourceTimer)?
    private var limits: TimeLimits

    // The response.
    var response: HTTPResponse?
    var body = Data()
    var bodySize: Int64 = 0
    /// Whether the body came, and was not handed over.
    private(set) var bodyWasWithheld = false
    /// Where the body goes if it is read as it arrives.
    private(set) var pipe: ResponsePipe?
    /// The loader, until the body that is read as it arrives holds it.
    private var owner: URLSessionLoader?
    private let bodyLimit: Int64
    private var isDraining = false

    init(_ request: HTTPRequest, on queue: DispatchQueue, _ orders: TaskOrders) {
        self.request = request
        self.queue = queue
        self.orders = orders
        limits = TimeLimits(request.timeouts, start: .now)
        // A stream is bounded only where a limit was set; the standard one is meant for bodies that are collected.
        let standardLimit = request.streamsResponse ? Int.max : HTTPRequest.defaultMaximumBodySize
        bodyLimit = Int64(max(0, request.maximumBodySize ?? standardLimit))
    }

    func prepareToStream(for loader: URLSessionLoader) {
        pipe = ResponsePipe()
        owner = loader
    }

    // MARK: Beginning and end

    /// What URLSession is given for an exchange.
    typealias Made = (task: URLSessionTask, feed: UploadFeed?)

    /// Makes the task, of which the exchange does not know yet; not on `queue`, since URLSession may be waited for.
    func makeTask(in session: URLSession) -> Result<Made, HTTPError> {
        do throws(HTTPError) {
            return .success(
                try UploadFeed.makeTask(for: request, in: session) { [weak self] failure in
                    guard let self else { return }
                    queue.async { self.stop(failure.code, failure.message, failure.underlyingError) }
                }
            )
        } catch {
            return .failure(error)
        }
    }

    /// Takes over what was made; false where the exchange has ended, in the meantime or because of it.
    func take(_ made: Result<Made, HTTPError>) -> Bool {
        switch made {
        case .failure(let error):
            if !isFinished { end(.failure(error)) }
            return false
        case .success(let (task, feed)):
            guard !isFinished else {
                feed?.close()
                return false
            }
            self.task = task
            self.feed = feed
            evidence.wasStarted = true
            return true
        }
    }

    /// Ends an exchange that was never begun.
    func refuse(_ code: HTTPError.Code, _ message: String?) {
        end(.failure(HTTPError(code, request: request, message: message, bytesSent: 0)))
    }

    /// Stops the exchange.
    ///
    /// On Darwin it ends when URLSession says that its task has stopped, and what was sent. FoundationNetworking says
    /// nothing of that, and may say it late; there the exchange ends at once.
    func stop(_ code: HTTPError.Code, _ message: String, _ underlying: (any Error)? = nil) {
        guard !isFinished, stopReason == nil, task != nil || continuation != nil else { return }
        let reason = HTTPError(code, request: request, underlyingError: underlying, message: message)
        stopReason = reason
        // First, so that nothing waits for the source any more; the end of the body is not sent.
        feed?.abort()
        if let task {
            orders.give { task.cancel() }
            #if canImport(Darwin)
            return limits.rests ? task.resume() : ()
            #endif
        }
        end(.failure(failure(of: nil) ?? reason))
    }

    /// URLSession has lost the connection, and would send the body again.
    func refuseToSendAgain() {
        guard feed != nil else { return }
        stop(.networkConnectionLost, "the connection was lost before an answer came, and the body is a stream")
    }

    func complete(_ error: (any Error)?) {
        feed?.close()
        guard !isFinished else { return }
        if error == nil, stopReason == nil, response == nil, let late = task?.response {
            // FoundationNetworking keeps a redirect without a target to itself until its end, and its body for good.
            bodyWasWithheld = true
            receive(late)
        }
        // The end of a 401 that URLSession did not get credentials for: all of it has come, and was handed over.
        let error = wasAskedForCredentials && error.map(Self.isCancellation) == true ? nil : error
        if let failure = failure(of: error) {
            end(.failure(failure))
        } else if let response = wholeResponse {
            end(.success(response))
        } else {
            end(.failure(failure(.badServerResponse, "what came was no response of HTTP")))
        }
    }

    private func end(_ result: HTTPResult) {
        isFinished = true
        timer?.cancel()
        timer = nil
        owner = nil
        if continuation != nil {
            answer(result)
        } else if case .failure(let error) = result {
            pipe?.finish(error)
        } else {
            pipe?.finish(nil)
        }
    }

    /// Tells the caller; only the first time counts.
    private func answer(_ outcome: HTTPResult) {
        guard let continuation else { return }
        self.continuation = nil
        result.withLock { $0 = outcome }
        continuation.resume()
    }

    /// What the caller is told, once; the exchange lets go of it, since a body that is being read holds the exchange.
    func takeOutcome() -> HTTPResult {
        let outcome = result.withLock { result in
            defer { result = nil }
            return result
        }
        return outcome ?? .failure(HTTPError(.unknown, request: request, message: "nobody answered"))
    }

    // MARK: What URLSession says

    func noteChallenge() { wasAskedForCredentials = true }

    func didSend(_ total: Int64) {
        evidence.bodyBytes = max(evidence.bodyBytes, total)
        noteActivity()
    }

    func receive(_ response: URLResponse) {
        noteActivity()
        guard !isFinished, stopReason == nil, let response = HTTPResponse(response, to: request) else { return }
        self.response = response
        limits.hasResponse = true
        if let length = announcedLength, length > bodyLimit { return stopTooLarge() }
        guard let pipe, let owner, continuation != nil else { return }
        self.owner = nil
        var streamed = response
        streamed.body = pipe.body(of: self, length: announcedLength, for: owner)
        streamed.exchange.bytesSent = evidence.bytesSent
        answer(.success(streamed))
    }

    func receive(_ data: Data) {
        noteActivity()
        guard !isFinished, stopReason == nil else { return }
        bodySize += Int64(data.count)
        guard !isDraining else { return bodySize > 65_536 ? stop(.cancelled, "the body was dropped unread") : () }
        guard bodySize <= bodyLimit else { return stopTooLarge() }
        guard let pipe else { return body.append(data) }
        guard !pipe.append(Array(data)) else { return }
        // FoundationNetworking cannot hold a transfer back; there the pipe takes what comes.
        #if canImport(Darwin)
        guard !limits.rests else { return }
        limits.rests = true
        task?.suspend()
        #endif
    }

    private func stopTooLarge() {
        stop(.dataLengthExceedsMaximum, "the body of the response is larger than \(bodyLimit) bytes")
    }

    // MARK: What the reader of the body wants

    func unpause() {
        guard limits.rests else { return }
        limits.rests = false
        noteActivity()
        task?.resume()
    }

    /// What little is left of the body is swallowed so that the connection lives (rule R28).
    func discard() {
        guard !isFinished, stopReason == nil else { return }
        guard let length = announcedLength, length - bodySize <= 65_536 else {
            return stop(.cancelled, "the body was dropped unread")
        }
        isDraining = true
        bodySize = 0
        limits.drainLimit = .now.advanced(by: .seconds(2))
        unpause()
        watchTime()
    }

    // MARK: Time

    private func noteActivity() { limits.lastActivity = .now }

    /// Ends the exchange if it has run out of time; else looks again when it may have.
    func watchTime() {
        guard !isFinished, stopReason == nil else { return }
        let now = ContinuousClock.now
        if let feed { limits.source = feed.source }
        if let words = limits.whatTookTooLong(at: now) { return stop(.timedOut, words) }
        guard let next = limits.nextCheck(after: now) else { return }
        let timer = timer ?? makeTimer()
        // Rounded up to the millisecond: a timer that is early would only have to look again.
        let milliseconds = Int(clamping: min(now.duration(to: next), .seconds(86_400)).inMilliseconds + 1)
        timer.schedule(deadline: .now() + .milliseconds(milliseconds))
    }

    private func makeTimer() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.watchTime() }
        self.timer = timer
        timer.resume()
        return timer
    }
}
