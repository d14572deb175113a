public import Foundation
public import RefrainCore
public import RefrainHTTP

extension RetryPolicy {
    /// A policy with Alamofire's six settings, the failures named as `URLError` names them.
    ///
    /// A code that ``HTTPError/Code`` has no name for is left out, since no failure carries it.
    ///
    /// - Throws: ``InvalidArgument`` for a negative limit, a base under 2, or a scale that is negative or not finite.
    public init(
        retryLimit: Int = defaultRetryLimit,
        exponentialBackoffBase: Int = defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<HTTPStatus> = defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code>
    ) throws(InvalidArgument) {
        try self.init(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: retryableHTTPStatusCodes,
            retryableErrorCodes: Set(
                retryableURLErrorCodes.compactMap { code in
                    let ours = HTTPError.Code(code)
                    return ours != .unknown || code == .unknown ? ours : nil
                }
            )
        )
    }
}
