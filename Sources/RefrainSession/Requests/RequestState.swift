internal import RefrainCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The changing part of a request: a value without a lock, so that each change is one step.
///
/// There is one for each request that waits, so what few requests need lies apart.
struct RequestState {
    var lifecycle = Request.State.initialized
    var hasStarted = false
    /// Whether the task is to be cancelled as soon as it is there.
    var wantsTaskCancelled = false
    /// Whether tries may begin, and streams flow.
    var isGateOpen = true
    /// Whether `outcome` is what the request has come to.
    private(set) var hasEnded = false
    /// Whether the transport has the first try, and no task waits for it.
    var isWithTransport = false
    /// Whether the first try's result is there, and one of those who wait was woken to look at it.
    var hasArrived = false
    /// The first try, from the moment at which it can be cancelled until somebody looks at its result.
    var firstTry: FirstTry?
    var task: Task<Void, Never>?

    /// The requests that tries have sent, as the adapters made them.
    var requests = FirstAndRest<HTTPRequest>()
    var tries = 0
    var attempts: [AttemptRecord] = []
    var retryCount = 0
    /// The response of the try that runs, or ran last before the request has ended.
    var response: HTTPResponse?
    var current = TryState()
    var lastFacts = LastFacts.none

    var validations = FirstAndRest<Request.Look>()
    var serializations = FirstAndRest<Request.Look>()
    /// Whether none of these takes long, nor is the caller's own.
    var checksAreLight = true

    /// What the request has come to, once it has ended.
    private(set) var outcome = RequestOutcome()
    /// Who waits for the end.
    typealias Waiters = FirstAndRest<UnsafeContinuation<Void, Never>>
    var waiters = Waiters()

    /// What few requests need, where this one has.
    private(set) var rare: Rare?

    /// Takes a first try whose result has arrived, and that nobody has looked at.
    mutating func takeArrived() -> FirstTry? {
        guard hasArrived else { return nil }
        hasArrived = false
        return firstTry.take()
    }

    /// What a request runs in at the moment, for those who end it.
    struct Running {
        /// A first try that the transport has.
        fileprivate let firstTry: FirstTry?
        /// A first try whose answer lies with somebody who was woken for it.
        fileprivate let arrived: FirstTry?
        fileprivate let task: Task<Void, Never>?

        /// Ends it.
        ///
        /// What has arrived is concluded here and now: the one who was woken for it may be busy for long, and may even
        /// wait for the one who asks. It finds the request ended, or goes on waiting.
        func cancel() {
            firstTry?.cancel()
            task?.cancel()
            arrived?.conclude()
        }
    }

    /// What the request runs in; an answer that has arrived is taken from whoever was to look at it.
    mutating func takeRunning() -> Running {
        let arrived = takeArrived()
        return Running(firstTry: firstTry, arrived: arrived, task: task)
    }

    /// Whether anybody wants to know how far bodies have come.
    var watchesBytes: Bool {
        guard let rare else { return false }
        return !rare.uploadHandlers.isEmpty || !rare.downloadHandlers.isEmpty
    }

    /// Whether what the request runs in is to be cancelled.
    var isTaskCancelled: Bool { lifecycle == .cancelled || wantsTaskCancelled }

    /// Goes to another state, if that is legal.
    mutating func move(to state: Request.State) -> Bool {
        guard lifecycle.canTransition(to: state) else { return false }
        lifecycle = state
        return true
    }

    /// Notes what a result of the chain is to the request, before it ends.
    mutating func note(_ result: HTTPResult) {
        let recorded = result.attempts
        outcome.attempts = recorded.isEmpty ? attempts : recorded
        switch result {
        case .success(let response):
            outcome.response = response
            outcome.error = current.validationError
        case .failure(let error):
            outcome.response = error.response
            outcome.error = RefrainError(of: error)
        }
        if let error = rare?.retryFailure ?? outcome.error { outcome.error = error.recording(outcome.attempts) }
        if lifecycle == .cancelled { outcome.error = endReason ?? .explicitlyCancelled }
    }

    /// Ends the request with a result of the chain, which happens once; the answer is all who wait for it.
    mutating func end(with result: HTTPResult) -> Waiters? {
        guard !hasEnded else { return nil }
        note(result)
        return end()
    }

    /// Ends the request with the result that was noted, and what its kind has made of the error.
    mutating func end(settledWith error: RefrainError?) -> Waiters? {
        guard !hasEnded else { return nil }
        outcome.error =
            lifecycle == .cancelled ? endReason ?? .explicitlyCancelled : error?.recording(outcome.attempts)
        return end()
    }

    private mutating func end() -> Waiters {
        _ = move(to: .finished)
        hasEnded = true
        response = nil
        task = nil
        defer { waiters = Waiters() }
        return waiters
    }

    /// Why it was cancelled, where it was not by the caller.
    var endReason: RefrainError? {
        get { rare?.endReason }
        set { if newValue != nil || rare != nil { withRare { $0.endReason = newValue } } }
    }

    /// Changes what few requests need.
    mutating func withRare<Result>(_ body: (Rare) -> Result) -> Result {
        if let rare { return body(rare) }
        let new = Rare()
        rare = new
        return body(new)
    }
}

extension RequestState {
    /// What few requests need.
    final class Rare {
        /// The identity, once somebody has asked for it.
        lazy var id = UUID()
        /// Who waits at the gate.
        var gate = SuspensionGate.Waiters()
        /// Whether others have joined the exchange, which is no longer the request's to hold.
        var sharesExchange = false
        /// The error of a retrier that ended the request.
        var retryFailure: RefrainError?
        var endReason: RefrainError?
        /// The authenticators that have had their one replay (rule R27).
        var replays: Set<ObjectIdentifier> = []
        /// What the retrier that is being asked was told by one that it wraps.
        var offer: RetryOffer?

        var uploadHandlers: [@Sendable (TransferProgress) -> Void] = []
        var downloadHandlers: [@Sendable (TransferProgress) -> Void] = []
        var uploadProgress = TransferProgress(completed: 0, total: nil)
        var downloadProgress = TransferProgress(completed: 0, total: nil)
    }

    /// The facts of the last try that has failed, which take a quarter of a kilobyte.
    enum LastFacts {
        case none
        indirect case known(RetryFacts)
    }
}

/// What is known of the try that runs, or ran last.
struct TryState {
    /// Whether the response of this try was looked at.
    var isInspected = false
    /// The check that failed.
    var validationError: RefrainError?
    /// The serialization that failed, which is its reader's error, not the request's.
    var serializationError: RefrainError?
    /// The error of the try where there was no response.
    var failure: RefrainError?
}

/// How a request ended.
struct RequestOutcome: Sendable {
    /// The last response, where there was one, acceptable or not.
    var response: HTTPResponse?
    /// Why the request failed; nil where it did not.
    var error: RefrainError?
    /// Every attempt, in order.
    var attempts: [AttemptRecord] = []
}
