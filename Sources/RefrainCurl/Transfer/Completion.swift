internal import RefrainHTTP

/// The receiver of a transfer's result.
enum Completion {
    /// No receiver, or none any more.
    case none
    /// A task that waits for it.
    case task(UnsafeContinuation<HTTPResult, Never>)

    /// Tells of the result.
    func resume(_ result: HTTPResult) {
        switch self {
        case .none: break
        case .task(let continuation): continuation.resume(returning: result)
        }
    }
}
