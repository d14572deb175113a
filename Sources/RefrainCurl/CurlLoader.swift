// SPDX-License-Identifier: Apache-2.0
public import RefrainHTTP

/// The transport on Linux: loads requests with libcurl, over HTTP/1.1 and HTTP/2.
///
/// ```swift
/// let loader = CurlLoader()
/// let response = try await loader.response(
///     for: HTTPRequest("https://example.com/")
/// )
/// ```
///
/// One thread drives all transfers of a loader. Use one loader for many requests, so that they share its connections.
/// If no other request is active and the host has answered the last one, the calling thread may send the request
/// itself; it waits for the response for at most a tenth of a millisecond, and then passes the transfer to the loader's
/// thread. A loader sends a request at most once; it follows no redirects, stores no cookies, and reads no `.netrc`.
///
/// Timeouts: `total` and `firstByte` begin when the request is submitted, and include the wait for a free connection;
/// `connect` begins after that wait. `idle` begins when the request is sent, and is suspended while the caller reads
/// the response or supplies the request's body too slowly.
///
/// Without ``Configuration/proxy`` the usual environment variables apply: `http_proxy`, `https_proxy`, `all_proxy`,
/// `no_proxy`. The loader checks at its initialization whether any is set.
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

    /// Makes a loader whose leaders wait for this many nanoseconds, for tests.
    init(leaderWait: Int64) {
        loop = EventLoop(configuration: Configuration(), leaderWait: leaderWait)
    }

    deinit { loop.stop() }

    /// Loads a request.
    public func load(_ request: HTTPRequest) async -> HTTPResult {
        let transfer: Transfer
        do throws(HTTPError) {
            transfer = try self.transfer(for: request)
        } catch {
            return .failure(error)
        }
        // Both closures capture one object, so that their contexts take no room in the frame.
        await withTaskCancellationHandler {
            await resumption { transfer.submit($0) }
        } onCancel: {
            transfer.cancel()
        }
        return transfer.takeResult()
    }

    private func transfer(for request: HTTPRequest) throws(HTTPError) -> Transfer {
        let request = try request.withIdempotencyKeyWritten()
        return Transfer(request, endOfOrigin: try request.validate(), loop: loop, owner: self)
    }

    /// Runs tasks on the thread that drives the transfers.
    ///
    /// A task that computes or blocks delays all transfers, so use it only for tasks that await this loader. After the
    /// loader has ended, the tasks run on the global executor.
    public var taskExecutor: any TaskExecutor { loop }

    /// True: the loader enforces all four timeouts of a request.
    public var keepsTimeouts: Bool { true }

    /// Ends all requests in flight with `HTTPError.Code.cancelled`; new requests are accepted.
    ///
    /// Returns when no request is in flight. Idle connections stay open.
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
