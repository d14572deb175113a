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
/// let response = try await loader.response(for: HTTPRequest("https://example.com/"))
/// ```
///
/// Share one loader among many requests: they share its connections. It follows no redirect, keeps no cookies, no
/// cache and no credentials; all that is the chain's.
///
/// Where `CurlLoader` knows, URLSession can only be asked:
/// - **What was sent.** `HTTPError.bytesSent` is 0 only where the metrics of the task say that no request was begun,
///   and nil where there are none; a count is at least what has left. URLSession may send a request again by itself on
///   a connection that has died. A body that is a stream is refused to it then; any other request cannot be held
///   back, and such resends show only in the count of bytes (rule R3).
/// - **Time.** `total`, `firstByte` (to the end of the head) and `idle` are kept; `connect` cannot be told apart.
/// - **A one-shot body** is asked for up to 64 KiB before the connection stands, and is spent from then on (rule R4).
/// - **A body that is cut short** is noticed by its `Content-Length`; chunked and coded ones are URLSession's to judge.
///
/// On Linux the loader is there so that it can be compiled and tested; FoundationNetworking ends the process
/// where a server hangs up in the middle of a head, and while the source of a streamed body is silent it lets all
/// requests of the process wait, each up to its own limits. Nor can it hold back a response that is read as it arrives:
/// what nobody has read yet is in memory. Use `CurlLoader` there.
public final class URLSessionLoader: HTTPLoader {
    let delegate: SessionDelegate

    /// Makes a loader on an ephemeral session.
    public init() {
        delegate = SessionDelegate(.ephemeral, serverTrust: nil)
    }

    /// Makes a loader on a session with this configuration, less its cookies, cache, credentials and time limits.
    ///
    /// - Parameters:
    ///   - configuration: what the session is made with.
    ///   - serverTrust: which servers are trusted, host by host; nil: those that the system trusts. App Transport
    ///     Security holds besides.
    /// - Throws: `InvalidArgument` for a background configuration, which outlives the process and its chain, and for a
    ///   `serverTrust` on Linux, where URLSession asks nobody whom to trust.
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
            exchange = try Exchange(request.validated(), on: delegate.queue, delegate.orders)
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

    /// The loader keeps the limits of a request by timers of its own.
    public var keepsTimeouts: Bool { true }

    /// Ends everything that is under way with `HTTPError.Code.cancelled`, and goes on with new requests.
    ///
    /// It returns when nothing is under way any more.
    public func reset() async {
        await withCheckedContinuation { delegate.endAll(.cancelled, "the loader was reset", $0) }
    }

    /// Ends everything that is under way with `HTTPError.Code.sessionInvalidated`, and refuses new requests.
    ///
    /// A loader that nobody holds any more does the same by itself.
    public func shutdown() async {
        delegate.close()
        await withCheckedContinuation { delegate.endAll(.sessionInvalidated, "the loader was shut down", $0) }
    }
}
