internal import RefrainHTTP

/// Who hears of the result of a transfer.
enum Recipient {
    /// Nobody, or nobody any more.
    case nobody
    /// A task that waits for it.
    case task(UnsafeContinuation<HTTPResult, Never>)
    /// An object that is called.
    case receiver(any ResultReceiver)

    /// Tells of the result.
    func hear(_ result: HTTPResult) {
        switch self {
        case .nobody: break
        case .task(let continuation): continuation.resume(returning: result)
        case .receiver(let receiver): receiver.receive(result)
        }
    }
}
