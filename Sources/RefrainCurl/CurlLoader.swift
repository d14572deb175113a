public import RefrainHTTP

/// The transport on Linux: loads requests with libcurl, over HTTP/1.1 and HTTP/2.
///
/// ```swift
/// let loader = CurlLoader()
/// let response = try await loader.response(for: HTTPRequest("https://example.com/"))
/// ```
///
/// One thread drives all transfers of a loader, so share one among many requests: they share its connections too.
/// A loader sends a request once, or not at all; it never follows a redirect, keeps no cookies, and reads no `.netrc`.
///
/// Times: `total` and `firstByte` begin when the request is handed over, and so count the wait for a free connection;
/// `connect` begins when the request gets its turn. `idle` begins when the request is sent, and rests while
/// the caller reads or feeds a body too slowly.
///
/// Without ``Configuration/proxy`` the usual environment variables hold: `http_proxy`, `https_proxy`, `all_proxy`,
/// `no_proxy`.
public final class CurlLoader: HTTPLoader {
    let loop: EventLoop

    /// Makes a loader with the standard configuration.
    public init() {
        loop = EventLoop(configuration: Configuration())
    }

    /// Makes a loader.
    ///
    /// - Throws: `InvalidArgument`, which names the setting that cannot be used.
    public init(configuration: Configuration) throws(InvalidArgument) {
        loop = EventLoop(configuration: try configuration.validated())
    }

    deinit { loop.stop() }

    /// Loads a request.
    public func load(_ request: HTTPRequest) async -> HTTPResult {
        let transfer: Transfer
        do throws(HTTPError) {
            transfer = Transfer(try request.validated())
        } catch {
            return .failure(error)
        }
        if request.streamsResponse { transfer.prepareToStream(for: self) }
        return await withTaskCancellationHandler {
            await resumption { loop.submit(transfer, $0) }
        } onCancel: {
            loop.cancel(transfer)
        }
    }

    /// The loop keeps all four limits of a request by its own timers.
    public var keepsTimeouts: Bool { true }

    /// Ends everything that is under way with `HTTPError.Code.cancelled`, and goes on with new requests.
    ///
    /// It returns when nothing is under way any more. Idle connections stay open.
    public func reset() async {
        await resumption { loop.reset($0) }
    }

    /// Ends everything that is under way with `HTTPError.Code.sessionInvalidated`, and refuses new requests.
    ///
    /// A loader that nobody holds any more does the same by itself. It returns when the thread has let go of all
    /// transfers.
    public func shutdown() async {
        await resumption { loop.stop($0) }
    }
}
