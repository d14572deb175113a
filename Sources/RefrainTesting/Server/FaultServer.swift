/// A loopback HTTP/1.1 server that misbehaves on command, byte by byte.
///
/// What it does is chosen by the URL (``catalogue`` lists the paths) or by a script in Swift (``on(_:readsBody:_:)``).
/// It keeps a log of every request whose head arrived, so that a test can compare what a client says that it
/// sent with what reached the server:
///
/// ```swift
/// let server = try FaultServer()
/// defer { server.stop() }
/// server.on("/twice") { request in
///     request.occurrence == 1 ? [.reset] : [.respond(.init(200, body: "hello"))]
/// }
/// // … let a client fetch server.baseURL + "/twice" …
/// #expect(server.count(path: "/twice") == 2)
/// ```
///
/// Each connection has a thread of its own, so a script may block. It listens on 127.0.0.1 only. The last
/// reference to the server stops it.
public final class FaultServer: Sendable {
    /// What the server does with a connection as soon as it is there.
    public enum Mode: String, Sendable, CaseIterable {
        /// Requests are read, logged and answered.
        case normal
        /// Connections are accepted; nothing is ever read or sent.
        case hangOnAccept = "hang-on-accept"
        /// The port is taken, but nothing listens on it: connections are refused.
        case refuse
        /// Connections are accepted and reset at once.
        case resetOnAccept = "reset-on-accept"
        /// Connections are accepted and closed at once.
        case closeOnAccept = "close-on-accept"
        /// Bytes that are not HTTP are sent before any request is read, then the connection is closed.
        case garbageOnAccept = "garbage-on-accept"
        /// The queue of connections is full from the start: on Linux a connection attempt gets no answer at all.
        case neverAccept = "never-accept"
    }

    /// The port that the kernel chose, or the one that was asked for.
    public let port: UInt16
    /// The mode that was asked for.
    public let mode: Mode
    /// Every path that is scripted by URL, in the order of the listing at `/`.
    public static var catalogue: [CatalogueEntry] { Route.all.map(\.entry) }

    private let site: Site
    private let listener: Listener

    /// Binds 127.0.0.1 and starts to serve.
    ///
    /// - Parameters:
    ///   - port: the port; 0 lets the kernel choose a free one.
    ///   - mode: what happens to a connection.
    ///   - backlog: how many connections may wait to be accepted.
    ///   - logLimit: how many requests the log keeps; beyond it the oldest are forgotten.
    public init(
        port: UInt16 = 0,
        mode: Mode = .normal,
        backlog: Int32 = 4096,
        logLimit: Int = 1_000_000
    ) throws(FaultServerError) {
        self.mode = mode
        site = Site(logLimit: logLimit)
        let queue: Int32? =
            switch mode {
            case .refuse: nil
            case .neverAccept: 0
            default: max(1, backlog)
            }
        let socket = try ServerSocket(port: port, backlog: queue)
        self.port = socket.port
        site.port = socket.port
        listener = try Listener(socket: socket, mode: mode, site: site)
    }

    deinit { stop() }

    /// `http://127.0.0.1:PORT`, without a slash at its end.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// How many connections were accepted since the start.
    public var connectionCount: Int { listener.acceptedCount }

    /// How many connections are open now.
    public var openConnectionCount: Int { listener.openCount }

    /// Closes every connection, waits for the server's threads, and lets go of the scripts.
    ///
    /// Further calls do nothing.
    public func stop() {
        listener.stop()
        site.stopOthers()
    }

    /// What arrived, in order of arrival.
    ///
    /// The paths that only serve control (`/log`, `/reset-state`, `/ports`) are left out.
    public var log: [LogEntry] { site.log.entries }

    /// Forgets the log; the counters behind `times=` stay.
    public func clearLog() { site.log.clear() }

    /// The requests for a path: without a query in `path`, any query matches.
    public func requests(toPath path: String) -> [LogEntry] {
        site.log.entries.filter { $0.isFor(path) }
    }

    /// How many requests for a path arrived: without a query in `path`, any query matches.
    public func count(path: String) -> Int { site.log.count { $0.isFor(path) } }

    /// Scripts a path in Swift; it comes before a path of the same name in the catalogue.
    ///
    /// A script that holds the server keeps it running until ``stop()``.
    ///
    /// - Parameters:
    ///   - path: the exact path, without a query.
    ///   - readsBody: whether the request's body is read before the script is asked. If not, the script can
    ///     read it by ``Step/readBody``, or never.
    ///   - script: says what to do; it runs on the connection's own thread.
    public func on(
        _ path: String,
        readsBody: Bool = true,
        _ script: @escaping @Sendable (Request) -> [Step]
    ) {
        site.setScript(Script(readsBody: readsBody, steps: script), for: path)
    }
}
