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
        if configuration.keepsFreedMemory { _ = MallocTuning.apply }
    }

    /// Makes a loader whose leaders wait longer than they should, for tests.
    init(leaderWait: Int64) {
        loop = EventLoop(configuration: Configuration(), leaderWait: leaderWait)
    }

    deinit { loop.stop() }

    /// Loads a request.
    @inline(__always)
    public func load(_ request: HTTPRequest) async -> HTTPResult {
        let transfer: Transfer
        do throws(HTTPError) {
            transfer = try self.transfer(for: request)
        } catch {
            return .failure(error)
        }
        // Both capture one object, so that the frame has no room for what they capture.
        await withTaskCancellationHandler {
            await resumption { transfer.submit($0) }
        } onCancel: {
            transfer.cancel()
        }
        return transfer.takeResult()
    }

    // Not inlined: the frame of each request in flight would have room for what this needs.
    @inline(never)
    private func transfer(for request: HTTPRequest) throws(HTTPError) -> Transfer {
        let transfer = Transfer(request, endOfOrigin: try request.validate())
        transfer.loop = loop
        if transfer.streams || !request.deferredBodies.isEmpty { transfer.owner = self }
        return transfer
    }

    /// Runs tasks on the thread that drives the transfers, which waits for them: for tasks that mostly wait for it.
    ///
    /// Once the loader has ended they run on the threads that all tasks share.
    package var taskExecutor: any TaskExecutor { loop }

    /// The loop keeps all four limits of a request by its own timers.
    public var keepsTimeouts: Bool { true }

    /// Ends everything that is under way with `HTTPError.Code.cancelled`, and goes on with new requests.
    ///
    /// It returns when nothing is under way any more. Idle connections stay open.
    public func reset() async {
        await resumption { loop.reset($0) }
    }

    /// Ends all requests in flight with `HTTPError.Code.sessionInvalidated`, and refuses new requests.
    ///
    /// Deallocating the loader has the same effect. Returns when the thread has released all transfers.
    public func shutdown() async {
        await resumption { loop.stop($0) }
    }
}
