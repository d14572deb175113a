public import Foundation
public import RefrainHTTP

extension RetryPolicy {
    /// Makes a policy with Alamofire's six settings, and with error codes of `URLError`.
    ///
    /// Codes without an ``HTTPError/Code`` are ignored.
    ///
    /// Numbers out of range are clamped.
    public init(
        retryLimit: Int = defaultRetryLimit,
        exponentialBackoffBase: Int = defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<HTTPStatus> = defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code>
    ) {
        self.init(
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
