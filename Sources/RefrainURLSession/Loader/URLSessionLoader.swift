// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
public import RefrainHTTP

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// The transport on Apple platforms: loads requests with Foundation's URLSession.
///
/// ```swift
/// let loader = URLSessionLoader()
/// let response = try await loader.response(
///     for: HTTPRequest("https://example.com/")
/// )
/// ```
///
/// Use one loader for many requests, so that they share its connections. It follows no redirects and stores no cookies,
/// responses or credentials; the chain does that.
///
/// URLSession reports less than `CurlLoader`:
/// - **Bytes sent.** `HTTPError.bytesSent` is 0 only if the metrics of the task contain no request that was begun, and
///   nil without metrics; a count is a lower bound. URLSession may itself resend a request on a connection that was
///   closed. For a streamed body the loader refuses that; for other requests it cannot, and such resends show only in
///   the count of bytes.
/// - **Timeouts.** `total`, `firstByte` (to the end of the head) and `idle` are enforced; `connect` is not,
///   because URLSession does not report the connection.
/// - **A one-shot body** is read up to 64 KiB before the connection is established, and counts as read from then on.
/// - **A truncated body** is detected by its `Content-Length`; for chunked and content-coded bodies the loader relies
///   on URLSession.
///
/// On Linux use `CurlLoader`. There this loader exists to be compiled and tested: FoundationNetworking terminates the
/// process if a server closes the connection within a head, it blocks all requests of the process, each up to its
/// limits, while the source of a streamed body is blocked, and it cannot suspend a streamed response, so that unread
/// data is buffered in memory.
public final class URLSessionLoader: HTTPLoader {
    let delegate: SessionDelegate

    /// Makes a loader with an ephemeral session.
    public init() {
        delegate = SessionDelegate(.ephemeral, serverTrust: nil)
    }

    /// Makes a loader with this configuration, except its cookies, cache, credentials and timeouts.
    ///
    /// - Parameters:
    ///   - configuration: the configuration of the session.
    ///   - serverTrust: the trust evaluation by host. Defaults to nil, the system's. App Transport Security applies as
    ///     well.
    /// - Throws: `InvalidArgument` for a background configuration, whose tasks outlive the process, and for a
    ///   `serverTrust` on Linux, where URLSession does not support it.
    public init(
        configuration: URLSessionConfiguration,
        serverTrust: ServerTrust? = nil
    ) throws(InvalidArgument) {
        if let identifier = configuration.identifier {
            throw InvalidArgument(
                "configuration",
                is: "the background configuration \(identifier)",
                expected: "a default or an ephemeral one"
            )
        }
        #if !canImport(Security)
        guard serverTrust == nil else {
            throw InvalidArgument("serverTrust", is: "set", expected: "nil on this platform; CurlLoader keeps one")
        }
        #endif
        for path in serverTrust?.certificateFiles ?? [] where !FileManager.default.isReadableFile(atPath: path) {
            throw InvalidArgument("serverTrust", is: path, expected: "a file that can be read")
        }
        delegate = SessionDelegate(configuration, serverTrust: serverTrust)
    }

    deinit { delegate.close() }

    /// Loads a request.
    public func load(_ request: HTTPRequest) async -> HTTPResult {
        let exchange: Exchange
        do throws(HTTPError) {
            exchange = try Exchange(request.validated(), on: delegate.queue, delegate.tasks)
        } catch {
            return .failure(error)
        }
        if request.streamsResponse { exchange.prepareToStream(for: self) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { delegate.begin(exchange, $0) }
            return exchange.takeOutcome()
        } onCancel: {
            delegate.cancel(exchange)
        }
    }

    /// True: the loader enforces the timeouts of a request.
    public var keepsTimeouts: Bool { true }

    /// Ends all requests in flight with `HTTPError.Code.cancelled`; new requests are accepted.
    ///
    /// Returns when no request is in flight.
    public func reset() async {
        await withCheckedContinuation { delegate.endAll(.cancelled, "the loader was reset", $0) }
    }

    /// Ends all requests in flight with `HTTPError.Code.sessionInvalidated`, and refuses new requests.
    ///
    /// Deallocating the loader has the same effect.
    public func shutdown() async {
        delegate.close()
        await withCheckedContinuation { delegate.endAll(.sessionInvalidated, "the loader was shut down", $0) }
    }
}
