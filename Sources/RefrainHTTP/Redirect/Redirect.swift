/// Follows redirects, at most 20 for each call (rule R26).
///
/// ```swift
/// let loader = Redirect() --> Retry(.recommended) --> PlatformLoader()
/// ```
///
/// The stage belongs outside of ``Retry``: then each hop has attempts of its own, and a POST that was answered by a 303
/// is not posted again because the page behind it failed. Across origins, credentials and the fields named
/// by ``HTTPRequest/secretHeaders`` are dropped and do not come back. From https to http is an error, and so is a
/// `Location` that leads nowhere; without a `Location` the response is the answer (rule R8). A redirect with a
/// `Retry-After` waits, like any other answer (rule R18). One that the deadline leaves no time for ends the call with
/// ``HTTPError/Code/deadlineExceeded``: it is not the requested response.
public struct Redirect: HTTPMiddleware {
    /// How many redirects are followed in one call.
    public let maximumNumberOfRedirects: Int

    @usableFromInline let configuration: Configuration

    /// What all calls of a stage share; a class, so that the frame of a call has room for one reference.
    @usableFromInline
    final class Configuration: Sendable {
        let limit: Int
        let clocks: RetryClocks
        let resets = CancellationTokenSource()

        init(_ limit: Int, _ clocks: RetryClocks) {
            self.limit = limit
            self.clocks = clocks
        }

        @inline(never)
        @usableFromInline
        func begin(_ request: HTTPRequest) -> RedirectHops { RedirectHops(request, limit, clocks, resets.current) }
    }

    /// The default limit: 20, as in browsers and URLSession.
    public static let defaultMaximum = 20

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - maximumNumberOfRedirects: how many redirects are followed. A negative number counts as 0. Defaults to 20.
    ///   - clocks: the clocks that waits are measured on and dates are compared with.
    public init(maximumNumberOfRedirects: Int = defaultMaximum, clocks: RetryClocks = .system) {
        self.maximumNumberOfRedirects = max(0, maximumNumberOfRedirects)
        configuration = Configuration(self.maximumNumberOfRedirects, clocks)
    }

    /// Loads a request, and what its redirects point to.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        await follow(request) { AttemptOutcome(await next.load($0)) }.result
    }

    /// Sends a request, and then what each redirect points to, for this stage and for the pipeline of a session.
    ///
    /// Inlined, so that `send` needs no frames of its own: they last as long as the request.
    @inlinable
    @inline(__always)
    package func follow(
        _ request: HTTPRequest,
        send: (HTTPRequest) async -> AttemptOutcome
    ) async -> AttemptOutcome {
        let hops = configuration.begin(request)
        while let hop = hops.next() {
            // The outcome is handed over: a response that is read as it arrives holds a connection, which the next hop
            // may need.
            if hops.mustWait(after: await send(hop)) { await hops.wait(for: request) }
        }
        return hops.ending(request)
    }

    /// Whether a response is one that ``follow(_:send:)`` goes on from.
    package func follows(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        guard request.followsRedirects, case .follow = RedirectTarget(of: response, to: request) else { return false }
        return true
    }

    /// Whether a response is the answer to its request: neither followed nor refused.
    package func isAnswer(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        guard request.followsRedirects else { return true }
        guard case .none = RedirectTarget(of: response, to: request) else { return false }
        return true
    }

    /// Ends every delay that a redirect requested; these requests end with ``HTTPError/Code/cancelled``.
    public func reset() async { configuration.resets.cancel() }
}

/// Changes the request of a redirect; returns nil for a redirect that must not be followed.
///
/// A stage may call it more than once for one redirect, so it must have no side effects.
package typealias RedirectModifier =
    @Sendable (
        _ original: HTTPRequest, _ redirected: HTTPRequest, _ response: HTTPResponse
    ) -> HTTPRequest?

extension HTTPRequest {
    /// Changes the requests of redirects; defaults to nil.
    package var redirectModifier: RedirectModifier? {
        get { self[option: RedirectModifierOption.self] }
        set { self[option: RedirectModifierOption.self] = newValue }
    }
}

private enum RedirectModifierOption: HTTPRequestOption {
    static let defaultValue: RedirectModifier? = nil
}
