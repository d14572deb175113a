// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The changing part of a request: a value without a lock, so that each change is one step.
struct RequestState {
    var lifecycle = Request.State.initialized
    var hasStarted = false
    /// Whether the first job of the task runs on the thread that starts it.
    var startsHere = false
    /// Whether to cancel the task when it is set.
    var wantsTaskCancelled = false
    /// Whether attempts may begin and streams may be read.
    var isGateOpen = true
    /// Whether `outcome` is final.
    private(set) var hasEnded = false
    var task: Task<Void, Never>?

    /// The adapted requests of the attempts.
    var requests = [HTTPRequest]()
    var attemptCount = 0
    var attempts: [AttemptRecord] = []
    var retryCount = 0
    /// The response of the newest attempt; nil once the request has ended.
    var response: HTTPResponse?
    /// Why the newest attempt failed, or nil.
    var currentError: RefrainError?
    /// The context of the last failed attempt.
    var retryContext: RetryContext?

    /// What the request has come to, once it has ended.
    private(set) var outcome = RequestOutcome()
    /// The tasks that wait for the end, and run the jobs of the request's task until then.
    var waiters: [UnsafeContinuation<CallerExecutor.Job?, Never>] = []
    /// The tasks with an executor of their own that wait for the end; they run no jobs of the request's task.
    var boundWaiters: [UnsafeContinuation<CallerExecutor.Job?, Never>] = []

    /// The identifier, made on first use.
    lazy var id = UUID()
    /// The tasks that wait at the gate.
    var gate = SuspensionGate.Waiters()
    /// Whether others have joined the exchange, which is no longer the request's to hold.
    var sharesExchange = false
    /// The reason of a cancellation other than by the caller.
    var endReason: RefrainError?
    /// The authenticators that have replayed the request.
    var replays: Set<ObjectIdentifier> = []
    /// The types of interceptors that were found to have no adapting half.
    var absentAdapters: Set<ObjectIdentifier> = []
    /// What is called until the request ends.
    private(set) var handlers = Handlers()
    /// What runs when the request has ended, in order.
    var completions: [@Sendable () async -> Void] = []
    /// Whether a task runs the completions.
    private var runsCompletions = false
    var curlHandlers: [@Sendable (String) -> Void] = []
    var uploadProgress = Request.TransferProgress(completed: 0, total: nil)
    var downloadProgress = Request.TransferProgress(completed: 0, total: nil)

    /// The closures and monitors of the caller, up to the end of the request.
    struct Handlers {
        var validations: [Request.Validation] = []
        var serializations: [Request.Serialization] = []
        /// The monitors of the request alone, in order.
        var monitors: [any EventMonitor] = []
        /// Changes of the original request, before each attempt that it is made again for.
        var changes: [@Sendable (inout HTTPRequest) -> Void] = []
        var heads: [Request.HeadHandler] = []
        var upload: [@Sendable (Request.TransferProgress) -> Void] = []
        var download: [@Sendable (Request.TransferProgress) -> Void] = []
    }

    /// Adds a handler for what happens before the end; after it there is nothing to call.
    mutating func addHandler(_ add: (inout Handlers) -> Void) {
        if !hasEnded { add(&handlers) }
    }

    /// Takes out the caller's closures, which nothing calls after the end: one that names its request would keep it.
    ///
    /// The result must be released without the lock. An exchange that others have joined goes on with them.
    mutating func takeHandlers() -> Handlers? {
        guard hasEnded, !sharesExchange else { return nil }
        var taken = Handlers()
        swap(&taken, &handlers)
        return taken
    }

    /// Whether the task of the request must be cancelled.
    var isTaskCancelled: Bool { lifecycle == .cancelled || wantsTaskCancelled }

    /// Goes to another state, if that is legal.
    mutating func move(to state: Request.State) -> Bool {
        guard lifecycle.canTransition(to: state) else { return false }
        lifecycle = state
        return true
    }

    /// Sets the outcome that an attempt's outcome is for the request, before it ends.
    mutating func note(_ last: AttemptOutcome) {
        let result = last.result
        let recorded = result.attempts
        outcome.attempts = recorded.isEmpty ? attempts : recorded
        outcome.serializationError = last.serializationError as? RefrainError
        switch result {
        case .success(let response):
            outcome.response = response
            outcome.error = last.validationError as? RefrainError
        case .failure(let error):
            // The head of a download that was cancelled has arrived.
            outcome.response = error.response ?? response
            outcome.error = RefrainError(of: error)
        }
        let error = last.retryError as? RefrainError ?? outcome.error
        if let error { outcome.error = error.recording(outcome.attempts, of: outcome.sent ?? requests.last) }
        if lifecycle == .cancelled { outcome.error = endReason ?? .explicitlyCancelled }
    }

    /// Ends the request with its last outcome, which happens once; returns the continuations that wait for the end.
    mutating func end(with last: AttemptOutcome) -> [UnsafeContinuation<CallerExecutor.Job?, Never>]? {
        guard !hasEnded else { return nil }
        note(last)
        return end()
    }

    /// Ends the request with the outcome that was noted, and what its kind made of the error.
    mutating func end(settledWith error: RefrainError?) -> [UnsafeContinuation<CallerExecutor.Job?, Never>]? {
        guard !hasEnded else { return nil }
        let sent = outcome.sent ?? requests.last
        outcome.error =
            lifecycle == .cancelled ? endReason ?? .explicitlyCancelled : error?.recording(outcome.attempts, of: sent)
        return end()
    }

    private mutating func end() -> [UnsafeContinuation<CallerExecutor.Job?, Never>] {
        _ = move(to: .finished)
        hasEnded = true
        response = nil
        task = nil
        defer { (waiters, boundWaiters) = ([], []) }
        waiters += boundWaiters
        return waiters
    }
}

extension RequestState {
    /// Takes the handlers that wait for the first attempt's request.
    mutating func takeCURLHandlers() -> [@Sendable (String) -> Void] {
        defer { curlHandlers = [] }
        return curlHandlers
    }

    /// Whether there are completions that no task runs; the caller is to start one.
    mutating func claimCompletions() -> Bool {
        guard !completions.isEmpty, !runsCompletions else { return false }
        runsCompletions = true
        return true
    }

    mutating func nextCompletion() -> (@Sendable () async -> Void)? {
        guard !completions.isEmpty else {
            runsCompletions = false
            return nil
        }
        return completions.removeFirst()
    }
}

/// How a request ended.
struct RequestOutcome: Sendable {
    /// The last response, valid or not, or nil.
    var response: HTTPResponse?
    /// The error of the request; nil without one.
    var error: RefrainError?
    /// The error of the first serializer that could not read the response: its own, not the request's.
    var serializationError: RefrainError?
    /// Every attempt, in order.
    var attempts: [AttemptRecord] = []

    /// The request that the last response belongs to, as the transport sent it; nil without a response.
    var sent: HTTPRequest? { response?.request }
}
