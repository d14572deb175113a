// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A closure that adapts a request, under Alamofire's name for it.
public typealias AdaptHandler = Adapter.AdaptHandler
/// A closure that decides about a retry, under Alamofire's name for it.
public typealias RetryHandler = Retrier.RetryHandler
/// Why a request could not be authenticated, under Alamofire's name for it.
public typealias AuthenticationError = Auth.Failure

extension Refrain.RetryPolicy {
    /// The number of retries; `Int.max` if the schedule has no limit.
    public var retryLimit: Int { schedule.maxAttempts.map { max(0, $0 - 1) } ?? .max }
    /// The methods that are sent again; all if the policy goes by rules.
    public var retryableHTTPMethods: Set<HTTPMethod> { lists?.methods ?? Self.defaultRetryableHTTPMethods }
    /// The statuses that are retried.
    public var retryableHTTPStatusCodes: Set<HTTPStatus> { lists?.statuses ?? Self.defaultRetryableHTTPStatusCodes }
    /// The failures that are retried.
    public var retryableURLErrorCodes: Set<HTTPError.Code> { retryableErrorCodes }
    /// The failures that are retried.
    public static var defaultRetryableURLErrorCodes: Set<HTTPError.Code> { defaultRetryableErrorCodes }
    /// The failures that are retried.
    public var retryableErrorCodes: Set<HTTPError.Code> { lists?.errors ?? Self.defaultRetryableErrorCodes }

    private var lists: (methods: Set<HTTPMethod>, statuses: Set<HTTPStatus>, errors: Set<HTTPError.Code>)? {
        guard case .lists(let methods, let statuses, let errors) = criteria else { return nil }
        return (methods, statuses, errors)
    }
}

extension ConnectionLostRetryPolicy {
    /// The number of retries.
    public var retryLimit: Int { policy.retryLimit }
    /// The methods that are sent again.
    public var retryableHTTPMethods: Set<HTTPMethod> { policy.retryableHTTPMethods }
    /// The statuses that are retried: none.
    public var retryableHTTPStatusCodes: Set<HTTPStatus> { policy.retryableHTTPStatusCodes }
    /// The failures that are retried: a lost connection.
    public var retryableErrorCodes: Set<HTTPError.Code> { policy.retryableErrorCodes }
}

extension Auth.RefreshWindow {
    /// Makes a window; `interval` is in seconds.
    @_disfavoredOverload
    public init(interval: TimeInterval = 30, maximumAttempts: Int = 5) {
        self.init(interval: .delay(seconds: interval), maximumAttempts: maximumAttempts)
    }
}

extension RetryResult {
    /// The delay before the retry in seconds, or nil; it hides the property of the same name that is a `Duration`.
    public var delay: TimeInterval? {
        if case .retryWithDelay(let span) = self { span / .seconds(1) } else { nil }
    }
}
