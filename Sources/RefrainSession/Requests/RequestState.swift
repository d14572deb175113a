internal import RefrainCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The changing part of a request: a value without a lock, so that each change is one step.
struct RequestState {
    /// The identity, once somebody has asked for it.
    var id: UUID?
    var gate = SuspensionGate.State()
    var lifecycle = Request.State.initialized
    var hasStarted = false
    var task: Task<Void, Never>?
    /// Whether the task is to be cancelled as soon as it is there.
    var wantsTaskCancelled = false
    /// Whether the transport has the first try, and no task waits for it.
    var isWithTransport = false
    /// The first try, while it can be cancelled at the transport.
    var firstTry: FirstTry?

    /// The requests that tries have sent, as the adapters made them.
    var requests = FirstAndRest<HTTPRequest>()
    var tries = 0
    var attempts: [AttemptRecord] = []
    var retryCount = 0
    /// The last try's response.
    var response: HTTPResponse?
    var current = TryState()
    var lastFacts: RetryFacts?
    /// The error of a retrier that ended the request.
    var retryFailure: RefrainError?
    /// Why it was cancelled, where it was not by the caller.
    var endReason: RefrainError?
    /// The authenticators that have had their one replay (rule R27).
    var replays: Set<ObjectIdentifier> = []

    var validations = FirstAndRest<Request.Look>()
    var serializations = FirstAndRest<Request.Look>()
    /// Whether none of these takes long, nor is the caller's own.
    var checksAreLight = true

    var uploadHandlers: [@Sendable (TransferProgress) -> Void] = []
    var downloadHandlers: [@Sendable (TransferProgress) -> Void] = []
    var uploadProgress = TransferProgress(completed: 0, total: nil)
    var downloadProgress = TransferProgress(completed: 0, total: nil)

    var outcome: RequestOutcome?
    var waiters = FirstAndRest<UnsafeContinuation<RequestOutcome, Never>>()

    /// Whether what the request runs in is to be cancelled.
    var isTaskCancelled: Bool { lifecycle == .cancelled || wantsTaskCancelled }

    /// Goes to another state, if that is legal.
    mutating func move(to state: Request.State) -> Bool {
        guard lifecycle.canTransition(to: state) else { return false }
        lifecycle = state
        return true
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
    /// The error of a reader of the response, which other readers need not have.
    var serializationError: RefrainError?
    /// Every attempt, in order.
    var attempts: [AttemptRecord]
}
