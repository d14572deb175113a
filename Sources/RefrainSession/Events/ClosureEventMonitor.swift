// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// An event monitor made of closures, under Alamofire's names where it has the event.
///
/// ```swift
/// let monitor = ClosureEventMonitor()
/// monitor.requestDidFinish = { request in
///     print(request, request.attempts.count)
/// }
/// let session = Session(eventMonitors: [monitor])
/// ```
///
/// Closures may be set at any time. They are called where the event occurs, on any thread, and must return quickly. A
/// closure that is nil, the default, is not called.
public final class ClosureEventMonitor: EventMonitor {
    private let closures = Locked(Closures())

    private struct Closures: Sendable {
        var requestDidCreate: (@Sendable (Request) -> Void)?
        var requestDidResume: (@Sendable (Request) -> Void)?
        var requestDidSuspend: (@Sendable (Request) -> Void)?
        var requestDidCancel: (@Sendable (Request) -> Void)?
        var requestDidAdaptInitialRequestToAdaptedRequest: (@Sendable (Request, HTTPRequest, HTTPRequest) -> Void)?
        var requestDidFailToAdaptURLRequestWithError: (@Sendable (Request, HTTPRequest, RefrainError) -> Void)?
        var requestDidStartAttempt: (@Sendable (Request, Int, HTTPRequest) -> Void)?
        var requestDidFinishAttempt: (@Sendable (Request, Int, HTTPResult, Duration) -> Void)?
        var requestDidValidateResponse: (@Sendable (Request, HTTPResponse, RefrainError?) -> Void)?
        var requestWillRetryAfterDelay: (@Sendable (Request, Duration, RetryReason) -> Void)?
        var requestIsRetrying: (@Sendable (Request) -> Void)?
        var requestDidGiveUp: (@Sendable (Request, RetryReason) -> Void)?
        var requestDidFinish: (@Sendable (Request) -> Void)?
        var next: (any EventMonitor)?
    }

    /// A monitor that receives each event after the closures of this one, for further kinds of closures.
    package var next: (any EventMonitor)? { closures.withLock { $0.next } }

    /// Sets ``next``, if there is none so far, and returns it.
    package func next(or make: () -> any EventMonitor) -> any EventMonitor {
        closures.withLock { closures in
            let next = closures.next ?? make()
            closures.next = next
            return next
        }
    }

    /// Makes a monitor without closures.
    public init() {}

    /// Called when a request was created.
    public var requestDidCreate: (@Sendable (Request) -> Void)? {
        get { closures.withLock { $0.requestDidCreate } }
        set { closures.withLock { $0.requestDidCreate = newValue } }
    }

    /// Called when a request was started, or resumed after a suspension.
    public var requestDidResume: (@Sendable (Request) -> Void)? {
        get { closures.withLock { $0.requestDidResume } }
        set { closures.withLock { $0.requestDidResume = newValue } }
    }

    /// Called when a request was suspended.
    public var requestDidSuspend: (@Sendable (Request) -> Void)? {
        get { closures.withLock { $0.requestDidSuspend } }
        set { closures.withLock { $0.requestDidSuspend = newValue } }
    }

    /// Called when a request was cancelled.
    public var requestDidCancel: (@Sendable (Request) -> Void)? {
        get { closures.withLock { $0.requestDidCancel } }
        set { closures.withLock { $0.requestDidCancel = newValue } }
    }

    /// Called when the adapters replaced a request for an attempt.
    public var requestDidAdaptInitialRequestToAdaptedRequest: (@Sendable (Request, HTTPRequest, HTTPRequest) -> Void)? {
        get { closures.withLock { $0.requestDidAdaptInitialRequestToAdaptedRequest } }
        set { closures.withLock { $0.requestDidAdaptInitialRequestToAdaptedRequest = newValue } }
    }

    /// Called when an adapter threw.
    public var requestDidFailToAdaptURLRequestWithError: (@Sendable (Request, HTTPRequest, RefrainError) -> Void)? {
        get { closures.withLock { $0.requestDidFailToAdaptURLRequestWithError } }
        set { closures.withLock { $0.requestDidFailToAdaptURLRequestWithError = newValue } }
    }

    /// Called when an attempt was sent; numbers begin with 1.
    public var requestDidStartAttempt: (@Sendable (Request, Int, HTTPRequest) -> Void)? {
        get { closures.withLock { $0.requestDidStartAttempt } }
        set { closures.withLock { $0.requestDidStartAttempt = newValue } }
    }

    /// Called when an attempt ended after this time.
    public var requestDidFinishAttempt: (@Sendable (Request, Int, HTTPResult, Duration) -> Void)? {
        get { closures.withLock { $0.requestDidFinishAttempt } }
        set { closures.withLock { $0.requestDidFinishAttempt = newValue } }
    }

    /// Called when a response was validated, with the error of the first validation that failed.
    public var requestDidValidateResponse: (@Sendable (Request, HTTPResponse, RefrainError?) -> Void)? {
        get { closures.withLock { $0.requestDidValidateResponse } }
        set { closures.withLock { $0.requestDidValidateResponse = newValue } }
    }

    /// Called when a retry follows after this delay.
    public var requestWillRetryAfterDelay: (@Sendable (Request, Duration, RetryReason) -> Void)? {
        get { closures.withLock { $0.requestWillRetryAfterDelay } }
        set { closures.withLock { $0.requestWillRetryAfterDelay = newValue } }
    }

    /// Called when another attempt follows.
    public var requestIsRetrying: (@Sendable (Request) -> Void)? {
        get { closures.withLock { $0.requestIsRetrying } }
        set { closures.withLock { $0.requestIsRetrying = newValue } }
    }

    /// Called when no retry follows an unsuccessful attempt.
    public var requestDidGiveUp: (@Sendable (Request, RetryReason) -> Void)? {
        get { closures.withLock { $0.requestDidGiveUp } }
        set { closures.withLock { $0.requestDidGiveUp = newValue } }
    }

    /// Called when a request has ended and has its final state.
    public var requestDidFinish: (@Sendable (Request) -> Void)? {
        get { closures.withLock { $0.requestDidFinish } }
        set { closures.withLock { $0.requestDidFinish = newValue } }
    }

    /// Calls ``requestDidCreate``.
    public func requestDidCreate(_ request: Request) {
        requestDidCreate?(request)
        next?.requestDidCreate(request)
    }

    /// Calls ``requestDidResume``.
    public func requestDidResume(_ request: Request) {
        requestDidResume?(request)
        next?.requestDidResume(request)
    }

    /// Calls ``requestDidSuspend``.
    public func requestDidSuspend(_ request: Request) {
        requestDidSuspend?(request)
        next?.requestDidSuspend(request)
    }

    /// Calls ``requestDidCancel``.
    public func requestDidCancel(_ request: Request) {
        requestDidCancel?(request)
        next?.requestDidCancel(request)
    }

    /// Calls ``requestDidAdaptInitialRequestToAdaptedRequest``.
    public func request(_ request: Request, didAdapt initial: HTTPRequest, to adapted: HTTPRequest) {
        requestDidAdaptInitialRequestToAdaptedRequest?(request, initial, adapted)
        next?.request(request, didAdapt: initial, to: adapted)
    }

    /// Calls ``requestDidFailToAdaptURLRequestWithError``.
    public func request(_ request: Request, didFailToAdapt initial: HTTPRequest, error: RefrainError) {
        requestDidFailToAdaptURLRequestWithError?(request, initial, error)
        next?.request(request, didFailToAdapt: initial, error: error)
    }

    /// Calls ``requestDidStartAttempt``.
    public func request(_ request: Request, didStartAttempt number: Int, with sent: HTTPRequest) {
        requestDidStartAttempt?(request, number, sent)
        next?.request(request, didStartAttempt: number, with: sent)
    }

    /// Calls ``requestDidFinishAttempt``.
    public func request(
        _ request: Request,
        didFinishAttempt number: Int,
        with result: HTTPResult,
        after duration: Duration
    ) {
        requestDidFinishAttempt?(request, number, result, duration)
        next?.request(request, didFinishAttempt: number, with: result, after: duration)
    }

    /// Calls ``requestDidValidateResponse``.
    public func request(_ request: Request, didValidate response: HTTPResponse, error: RefrainError?) {
        requestDidValidateResponse?(request, response, error)
        next?.request(request, didValidate: response, error: error)
    }

    /// Calls ``requestWillRetryAfterDelay``.
    public func request(_ request: Request, willRetryAfter delay: Duration, reason: RetryReason) {
        requestWillRetryAfterDelay?(request, delay, reason)
        next?.request(request, willRetryAfter: delay, reason: reason)
    }

    /// Calls ``requestIsRetrying``.
    public func requestIsRetrying(_ request: Request) {
        requestIsRetrying?(request)
        next?.requestIsRetrying(request)
    }

    /// Calls ``requestDidGiveUp``.
    public func request(_ request: Request, didGiveUp reason: RetryReason) {
        requestDidGiveUp?(request, reason)
        next?.request(request, didGiveUp: reason)
    }

    /// Calls ``requestDidFinish``.
    public func requestDidFinish(_ request: Request) {
        requestDidFinish?(request)
        next?.requestDidFinish(request)
    }
}
