public import RefrainHTTP

/// The transport on Linux: loads requests with libcurl, over HTTP/1.1 and HTTP/2.
///
/// ```swift
/// let loader = CurlLoader()
/// let response = try await loader.response(for: HTTPRequest("https://example.com/"))
/// ```
///
/// One thread drives all transfers of a loader, so share one among many requests: they share its connections too.
/// A request that comes while nothing else is under way, to a host that has answered the last one, may be sent by the
/// thread of its caller, which waits for the answer for at most a tenth of a millisecond before it leaves the rest to
/// that thread.
/// A loader sends a request once, or not at all; it never follows a redirect, keeps no cookies, and reads no `.netrc`.
///
/// Times: `total` and `firstByte` begin when the request is handed over, and so count the wait for a free connection;
/// `connect` begins when the request gets its turn. `idle` begins when the request is sent, and rests while
/// the caller reads or feeds a body too slowly.
///
/// Without ``Configuration/proxy`` the usual environment variables hold: `http_proxy`, `https_proxy`, `all_proxy`,
/// `no_proxy`. Whether there are any is found out when the loader is made.
///
/// The first body over 128 KiB that is collected makes glibc keep up to 64 MB of freed memory for the next ones, where
/// the process has set no limits of its own (`mallopt`, `GLIBC_TUNABLES`).
public final class CurlLoader: HTTPLoader, PromptLoader {
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

    /// Makes a loader whose leaders wait longer than they should, for tests.
    init(leaderWait: Int64) {
        loop = EventLoop(configuration: Configuration(), leaderWait: leaderWait)
    }

    deinit { loop.stop() }

    /// Loads a request.
    public func load(_ request: HTTPRequest) async -> HTTPResult {
        let endOfOrigin: Int?
        do throws(HTTPError) {
            endOfOrigin = try request.validate()
        } catch {
            return .failure(error)
        }
        let transfer = Transfer(request, endOfOrigin: endOfOrigin)
        if request.streamsResponse { transfer.prepareToStream(for: self) }
        return await withTaskCancellationHandler {
            await resumption { loop.submit(transfer, .task($0)) }
        } onCancel: {
            loop.cancel(transfer)
        }
    }

    /// The loop keeps all four limits of a request by its own timers.
    public var keepsTimeouts: Bool { true }

    /// Loads a request for a receiver, with no task that waits for it.
    ///
    /// The loader must live until then: what is under way when it goes ends with it. A request whose response is to be
    /// read as it arrives is received as `HTTPError.Code.invalidRequest`; load it instead.
    public func begin(_ request: HTTPRequest, for receiver: any ResultReceiver) -> AnyObject? {
        guard !request.streamsResponse else {
            let message = "a response that is read as it arrives needs somebody who reads: load the request instead"
            receiver.receive(.failure(HTTPError(.invalidRequest, request: request, message: message, bytesSent: 0)))
            return nil
        }
        let endOfOrigin: Int?
        do throws(HTTPError) {
            endOfOrigin = try request.validate()
        } catch {
            receiver.receive(.failure(error))
            return nil
        }
        let transfer = Transfer(request, endOfOrigin: endOfOrigin)
        loop.submit(transfer, .receiver(receiver))
        return transfer
    }

    /// Ends an exchange that this loader has begun for a receiver; any other object is ignored.
    public func cancel(_ exchange: AnyObject) {
        guard let transfer = exchange as? Transfer, transfer.loop == ObjectIdentifier(loop) else { return }
        loop.cancel(transfer)
    }

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
