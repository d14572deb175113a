/// Waits until the network is back, and tries again at once.
///
/// ```swift
/// let interceptor = Interceptor(interceptors: [.offlineRetrier, .recommendedRetryPolicy])
/// let session = Session(loader: loader, interceptor: interceptor)
/// ```
///
/// It speaks up only where a request failed in a way that a missing network explains, and the network is missing
/// indeed. The wait uses up no try: it is also the answer to a first launch that waits for the user's permission. Put
/// it before retry policies, so that it is asked first.
public struct OfflineRetrier: RequestInterceptor, UsesNoTry {
    /// How long it waits for the network unless told otherwise: 5 s.
    public static let defaultWait = Duration.seconds(5)

    /// The failures that a missing network explains.
    public static let defaultOfflineErrorCodes: Set<HTTPError.Code> = [
        .notConnectedToInternet, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost,
    ]

    /// How long it waits for the network.
    public let maximumWait: Duration
    /// The failures that a missing network explains.
    public let offlineErrorCodes: Set<HTTPError.Code>

    private let monitor: any NetworkMonitor

    /// Makes the retrier with the default wait.
    public init() {
        maximumWait = Self.defaultWait
        offlineErrorCodes = Self.defaultOfflineErrorCodes
        monitor = SystemNetwork.monitor
    }

    /// Makes the retrier.
    ///
    /// - Parameters:
    ///   - maximumWait: how long it waits for the network.
    ///   - offlineErrorCodes: the failures that a missing network explains.
    ///   - monitor: knows whether there is a network.
    /// - Throws: `InvalidArgument` for a negative wait.
    public init(
        maximumWait: Duration,
        offlineErrorCodes: Set<HTTPError.Code> = defaultOfflineErrorCodes,
        monitor: any NetworkMonitor = SystemNetwork.monitor
    ) throws(InvalidArgument) {
        guard maximumWait >= .zero else {
            throw InvalidArgument("maximumWait", is: maximumWait, expected: "zero or more")
        }
        self.maximumWait = maximumWait
        self.offlineErrorCodes = offlineErrorCodes
        self.monitor = monitor
    }

    /// Waits for the network where it is missing.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        guard let code = (error as? RefrainError)?.transportCode, offlineErrorCodes.contains(code), !monitor.isOnline
        else { return .doNotRetry }
        let slot = PendingAnswer<Result<Bool, any Error>>()
        do {
            let isOnline = try await withTaskCancellationHandler {
                monitor.whenOnline(within: maximumWait) { slot.give(.success($0)) }
                return try await slot.value.get()
            } onCancel: {
                slot.give(.failure(CancellationError()))
            }
            return isOnline ? retryFreely(request) : .doNotRetry
        } catch {
            return .doNotRetry
        }
    }
}

extension OfflineRetrier {
    var retryReason: RetryReason { .networkReturned }
    var rules: Rules { [] }
    var drawsOnBudget: Bool { true }
}

extension RetryReason {
    /// The network had been missing, and came back.
    public static let networkReturned = RetryReason(rawValue: "networkReturned")
}

extension RequestInterceptor where Self == OfflineRetrier {
    /// The retrier with its default wait.
    public static var offlineRetrier: OfflineRetrier { OfflineRetrier() }
}
