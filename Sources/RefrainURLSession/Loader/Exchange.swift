// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Foundation
internal import RefrainCore
internal import RefrainHTTP

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One request in flight in URLSession, and its state.
final class Exchange: @unchecked Sendable {
    // @unchecked Sendable: confined to the task that made it until `begin`, and to `queue` afterwards.
    let request: HTTPRequest
    let queue: DispatchQueue
    private let tasks: TaskQueue
    var continuation: CheckedContinuation<Void, Never>?
    var wasCancelled = false
    var isFinished = false
    /// Whether URLSession requested credentials, which it does here when a 401 has been received completely.
    private var wasAskedForCredentials = false
    /// Why the exchange was stopped by the loader.
    var stopReason: HTTPError?
    var evidence = TransmissionMetrics()

    // Passed through a lock rather than the continuation: if a continuation is resumed before its task is suspended,
    // the thread sanitizer does not see the ordering.
    private let result = Locked<HTTPResult?>(nil)

    private(set) var task: URLSessionTask?
    private var writer: UploadStreamWriter?
    private var timer: (any DispatchSourceTimer)?
    private var timeouts: AttemptTimeouts

    // The response.
    var response: HTTPResponse?
    var body = Data()
    var bodySize: Int64 = 0
    /// Whether the body was received but not delivered.
    private(set) var bodyWasWithheld = false
    /// The destination of a streamed body.
    private(set) var pipe: ByteChannel?
    /// The loader, until the streamed body retains it.
    private var owner: URLSessionLoader?
    private let bodyLimit: Int64
    private var isDraining = false

    init(_ request: HTTPRequest, on queue: DispatchQueue, _ tasks: TaskQueue) {
        self.request = request
        self.queue = queue
        self.tasks = tasks
        timeouts = AttemptTimeouts(request.attemptLimits, start: .now)
        // A stream has no default limit; that limit is for collected bodies.
        let standardLimit = request.streamsResponse ? Int.max : HTTPRequest.defaultMaximumBodySize
        bodyLimit = Int64(max(0, request.maximumBodySize ?? standardLimit))
    }

    func prepareToStream(for loader: URLSessionLoader) {
        pipe = ByteChannel()
        owner = loader
    }

    // MARK: Beginning and end

    /// The URLSession task of an exchange, and the writer of its body.
    typealias Made = (task: URLSessionTask, writer: UploadStreamWriter?)

    /// Makes the task; not called on `queue`, because URLSession may block.
    func makeTask(in session: URLSession) -> Result<Made, HTTPError> {
        do throws(HTTPError) {
            return .success(
                try UploadStreamWriter.makeTask(for: request, in: session) { [weak self] failure in
                    guard let self else { return }
                    queue.async { self.stop(failure.code, failure.message, failure.underlyingError) }
                }
            )
        } catch {
            return .failure(error)
        }
    }

    /// Takes the task over; returns false if the exchange has ended.
    func take(_ made: Result<Made, HTTPError>) -> Bool {
        switch made {
        case .failure(let error):
            if !isFinished { end(.failure(error)) }
            return false
        case .success(let (task, writer)):
            guard !isFinished else {
                writer?.close()
                return false
            }
            self.task = task
            self.writer = writer
            evidence.wasStarted = true
            return true
        }
    }

    /// Ends an exchange that was not started.
    func refuse(_ code: HTTPError.Code, _ message: String?) {
        end(.failure(HTTPError(code, request: request, message: message, bytesSent: 0)))
    }

    /// Stops the exchange.
    ///
    /// On Darwin it ends when URLSession reports that the task has stopped, and what was sent. FoundationNetworking
    /// does not report that, or reports it late; there the exchange ends immediately.
    func stop(_ code: HTTPError.Code, _ message: String, _ underlying: (any Error)? = nil) {
        guard !isFinished, stopReason == nil, task != nil || continuation != nil else { return }
        let reason = HTTPError(code, request: request, underlyingError: underlying, message: message)
        stopReason = reason
        // First, so that nothing waits for the source; the end of the body is not sent.
        writer?.abort()
        if let task {
            tasks.run { task.cancel() }
            #if canImport(Darwin)
            return timeouts.rests ? task.resume() : ()
            #endif
        }
        end(.failure(failure(of: nil) ?? reason))
    }

    /// Called when URLSession has lost the connection and would send the body again.
    func refuseToSendAgain() {
        guard writer != nil else { return }
        stop(.networkConnectionLost, "the connection was lost before an answer came, and the body is a stream")
    }

    func complete(_ error: (any Error)?) {
        writer?.close()
        guard !isFinished else { return }
        if error == nil, stopReason == nil, response == nil, let late = task?.response {
            // FoundationNetworking delivers a redirect without a target only when the task ends, and never its body.
            bodyWasWithheld = true
            receive(late)
        }
        // The end of a 401 without credentials is not an error: the response was delivered completely.
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

    /// Returns the outcome to the caller; later calls do nothing.
    private func answer(_ outcome: HTTPResult) {
        guard let continuation else { return }
        self.continuation = nil
        result.withLock { $0 = outcome }
        continuation.resume()
    }

    /// Removes and returns the outcome, because a body that is being read retains the exchange.
    func takeOutcome() -> HTTPResult {
        let outcome = result.withLock { result in
            defer { result = nil }
            return result
        }
        return outcome ?? .failure(HTTPError(.unknown, request: request, message: "the server did not answer"))
    }

    // MARK: Events of URLSession

    func noteChallenge() { wasAskedForCredentials = true }

    func didSend(_ total: Int64) {
        evidence.bodyBytes = max(evidence.bodyBytes, total)
        noteActivity()
    }

    func receive(_ response: URLResponse) {
        noteActivity()
        guard !isFinished, stopReason == nil, let response = HTTPResponse(response, to: request) else { return }
        self.response = response
        timeouts.hasResponse = true
        if let length = announcedLength, length > bodyLimit { return stopTooLarge() }
        guard let pipe, let owner, continuation != nil else { return }
        self.owner = nil
        var streamed = response
        streamed.body = pipe.body(length: announcedLength, from: ExchangeSource(self, of: owner))
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
        data.withUnsafeBytes { bytes in
            if pipe.append(bytes) { pipe.wakeReader() }
        }
        guard !pipe.hasRoom else { return }
        // FoundationNetworking cannot suspend a transfer; there the pipe stores everything.
        #if canImport(Darwin)
        guard !timeouts.rests else { return }
        timeouts.rests = true
        task?.suspend()
        #endif
    }

    private func stopTooLarge() {
        stop(.dataLengthExceedsMaximum, "the body of the response is larger than \(bodyLimit) bytes")
    }

    // MARK: Calls of the reader

    func unpause() {
        guard timeouts.rests else { return }
        timeouts.rests = false
        noteActivity()
        task?.resume()
    }

    /// Reads a short rest of the body so that the connection can be reused.
    func discard() {
        guard !isFinished, stopReason == nil else { return }
        guard let length = announcedLength, length - bodySize <= 65_536 else {
            return stop(.cancelled, "the body was dropped unread")
        }
        isDraining = true
        bodySize = 0
        timeouts.drainLimit = .now.advanced(by: .seconds(2))
        unpause()
        watchTime()
    }

    // MARK: Time

    private func noteActivity() { timeouts.lastActivity = .now }

    /// Ends the exchange if a limit has passed; otherwise schedules the next check.
    func watchTime() {
        guard !isFinished, stopReason == nil else { return }
        let now = ContinuousClock.now
        if let writer { timeouts.source = writer.source }
        if let words = timeouts.timeoutMessage(at: now) { return stop(.timedOut, words) }
        guard let next = timeouts.nextCheck(after: now) else { return }
        let timer = timer ?? makeTimer()
        // Rounded up to the millisecond; an early timer would only have to be scheduled again.
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

/// Passes the calls of a streamed body's reader to its exchange; it retains the loader.
private final class ExchangeSource: ByteChannel.Source {
    private let exchange: Exchange
    private let loader: URLSessionLoader

    init(_ exchange: Exchange, of loader: URLSessionLoader) {
        self.exchange = exchange
        self.loader = loader
    }

    func resume() { loader.delegate.unpause(exchange) }
    func cancel() { loader.delegate.cancel(exchange) }
    func discard() { loader.delegate.discard(exchange) }
}

extension Exchange {
    /// Makes an error of this exchange, with the bytes sent and the response so far.
    func failure(_ code: HTTPError.Code, _ message: String?, _ underlying: (any Error)? = nil) -> HTTPError {
        HTTPError(
            code,
            request: request,
            response: pipe == nil ? arrived : nil,
            underlyingError: underlying,
            message: message,
            bytesSent: evidence.bytesSent
        )
    }

    /// The error of the exchange, or nil if the response is complete.
    func failure(of error: (any Error)?) -> HTTPError? {
        if var stopReason {
            stopReason.response = pipe == nil ? arrived : nil
            stopReason.bytesSent = evidence.bytesSent
            return stopReason
        }
        if let error { return failure(Self.code(of: error), Self.words(of: error), error) }
        guard let announced = announcedLength, bodySize != announced, !bodyWasWithheld else { return nil }
        let message = "\(bodySize) bytes of the body came, \(announced) were announced"
        return failure(.networkConnectionLost, message)
    }

    /// The response with all data received.
    private var wholeResponse: HTTPResponse? { arrived }

    private var arrived: HTTPResponse? {
        guard var response else { return nil }
        response.body = HTTPBody(.bytes(body))
        response.exchange.bytesSent = evidence.bytesSent
        response.exchange.bytesReceived = max(response.exchange.bytesReceived, bodySize)
        return response
    }

    /// The length of the body, if known; nil for a content-coded body, which URLSession decodes.
    private var announcedLength: Int64? {
        guard let response else { return nil }
        if request.method == .head || response.status == 204 || response.status == 304 { return 0 }
        guard !response.headers.contains("Transfer-Encoding") else { return nil }
        if let coding = response.headers["Content-Encoding"], coding.lowercased() != "identity" { return nil }
        guard case .bytes(let length) = ContentLength.parse(fieldValues: response.headers[values: "Content-Length"])
        else { return nil }
        return length
    }

    /// The code of an error of URLSession.
    static func code(of error: any Error) -> HTTPError.Code {
        guard let code = theirCode(of: error) else { return .unknown }
        // The system cancelled the task, not the caller; the request may be retried.
        return code == .cancelled ? .unknown : HTTPError.Code(code)
    }

    /// Whether the error is the cancellation of a task.
    static func isCancellation(_ error: any Error) -> Bool { theirCode(of: error) == .cancelled }

    private static func theirCode(of error: any Error) -> URLError.Code? {
        if let error = error as? URLError { return error.code }
        let error = error as NSError
        return error.domain == NSURLErrorDomain ? URLError.Code(rawValue: error.code) : nil
    }

    private static func words(of error: any Error) -> String {
        let number = (error as NSError).code
        return "\(error.localizedDescription) (\((error as NSError).domain) \(number))"
    }
}

#if canImport(Darwin)
extension Exchange {
    /// Stores URLSession's metrics, which arrive immediately before a task ends.
    func note(_ metrics: URLSessionTaskMetrics) {
        evidence.transactions = metrics.transactionMetrics.map { transaction in
            TransmissionMetrics.Transaction(
                requestBegan: transaction.requestStartDate != nil,
                headBytes: transaction.countOfRequestHeaderBytesSent,
                bodyBytes: transaction.countOfRequestBodyBytesSent
            )
        }
        guard let last = metrics.transactionMetrics.last else { return }
        response?.exchange.reusedConnection = last.isReusedConnection
        response?.exchange.bytesReceived = last.countOfResponseBodyBytesReceived
        switch last.networkProtocolName {
        case "h2": response?.exchange.version = "2"
        case "h3": response?.exchange.version = "3"
        case "http/1.0": response?.exchange.version = "1.0"
        default: break
        }
    }
}
#endif
