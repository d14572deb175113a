// SPDX-License-Identifier: Apache-2.0
/// Waits for the network to return, and then retries without a further delay.
///
/// ```swift
/// let interceptor = Interceptor(
///     interceptors: [.offlineRetrier, .recommendedRetryPolicy]
/// )
/// let session = Session(loader: loader, interceptor: interceptor)
/// ```
///
/// It applies only if the error can result from a missing network and the network is missing. Its retries are not
/// counted as attempts, so it also covers a first launch that waits for the user's permission. Put it before retry
/// policies, because the first retrier that returns a retry decides.
public struct OfflineRetrier: RequestInterceptor, RetrierOnly, FreeRetry {
    /// The default maximum wait: 5 s.
    public static let defaultWait = Duration.seconds(5)

    /// The errors that can result from a missing network.
    public static let defaultOfflineErrorCodes: Set<HTTPError.Code> = [
        .notConnectedToInternet, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost,
    ]

    /// The maximum wait for the network.
    public let maximumWait: Duration
    /// The errors that can result from a missing network.
    public let offlineErrorCodes: Set<HTTPError.Code>

    private let monitor: any NetworkMonitor

    /// Makes the retrier.
    ///
    /// - Parameters:
    ///   - maximumWait: the maximum wait for the network. A negative one counts as zero. Defaults to 5 s.
    ///   - offlineErrorCodes: the errors that can result from a missing network.
    ///   - monitor: reports whether there is a network.
    public init(
        maximumWait: Duration = defaultWait,
        offlineErrorCodes: Set<HTTPError.Code> = defaultOfflineErrorCodes,
        monitor: any NetworkMonitor = SystemNetwork.monitor
    ) {
        self.maximumWait = max(.zero, maximumWait)
        self.offlineErrorCodes = offlineErrorCodes
        self.monitor = monitor
    }

    /// Waits for the network if it is missing, and then retries.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        guard let code = (error as? RefrainError)?.transportCode, offlineErrorCodes.contains(code), !monitor.isOnline
        else { return .doNotRetry }
        let slot = Promise<Result<Bool, any Error>>()
        do {
            let isOnline = try await withTaskCancellationHandler {
                monitor.whenOnline(within: maximumWait) { slot.fulfill(.success($0)) }
                return try await slot.value.get()
            } onCancel: {
                slot.fulfill(.failure(CancellationError()))
            }
            return isOnline ? retryFreely() : .doNotRetry
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
    /// The network was missing and became available.
    public static let networkReturned = RetryReason(rawValue: "networkReturned")
}

extension RequestInterceptor where Self == OfflineRetrier {
    /// A retrier with the default wait.
    public static var offlineRetrier: OfflineRetrier { OfflineRetrier() }
}
