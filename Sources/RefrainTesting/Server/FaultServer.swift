// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A loopback HTTP/1.1 server that produces faults on request, byte by byte.
///
/// The URL (``catalogue`` lists the paths) or a script in Swift (``on(_:readsBody:_:)``) selects the behaviour. The
/// server logs every request whose head arrived, so that a test can compare what a client reports with what the server
/// received:
///
/// ```swift
/// let server = try FaultServer()
/// defer { server.stop() }
/// server.on("/twice") { request in
///     request.occurrence == 1
///         ? [.reset]
///         : [.respond(.init(200, body: "hello"))]
/// }
/// // … let a client fetch server.baseURL + "/twice" …
/// #expect(server.count(path: "/twice") == 2)
/// ```
///
/// Each connection has its own thread, so a script may block. The server listens on 127.0.0.1 only. It stops when its
/// last reference is released.
public final class FaultServer: Sendable {
    /// How the server treats new connections.
    public enum Mode: String, Sendable, CaseIterable {
        /// Requests are read, logged and answered.
        case normal
        /// Connections are accepted; nothing is read or sent.
        case hangOnAccept = "hang-on-accept"
        /// The port is bound without listening: connections are refused.
        case refuse
        /// Connections are accepted and reset immediately.
        case resetOnAccept = "reset-on-accept"
        /// Connections are accepted and closed immediately.
        case closeOnAccept = "close-on-accept"
        /// Bytes that are not HTTP are sent before a request is read, then the connection is closed.
        case garbageOnAccept = "garbage-on-accept"
        /// The queue of connections is full from the start: on Linux a connection attempt receives no reply.
        case neverAccept = "never-accept"
    }

    /// The port: the requested one, or the one that the kernel assigned.
    public let port: UInt16
    /// How the server treats new connections.
    public let mode: Mode
    /// All paths with built-in behaviour, in the order of the listing at `/`.
    public static var catalogue: [CatalogueEntry] { Route.all.map(\.entry) }

    private let state: ServerState
    private let listener: Listener

    /// Binds 127.0.0.1 and starts the server.
    ///
    /// - Parameters:
    ///   - port: the port. Defaults to 0, which lets the kernel assign a free one.
    ///   - mode: how new connections are treated. Defaults to `.normal`.
    ///   - backlog: the maximum number of connections that wait to be accepted.
    ///   - logLimit: the maximum number of requests in the log; beyond it the oldest are removed.
    public init(
        port: UInt16 = 0,
        mode: Mode = .normal,
        backlog: Int32 = 4096,
        logLimit: Int = 1_000_000
    ) throws(Failure) {
        self.mode = mode
        state = ServerState(logLimit: logLimit)
        let queue: Int32? =
            switch mode {
            case .refuse: nil
            case .neverAccept: 0
            default: max(1, backlog)
            }
        let socket = try ServerSocket(port: port, backlog: queue)
        self.port = socket.port
        state.port = socket.port
        listener = try Listener(socket: socket, mode: mode, server: state)
    }

    deinit { stop() }

    /// `http://127.0.0.1:PORT`, without a trailing slash.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// The number of connections accepted since the start.
    public var connectionCount: Int { listener.acceptedCount }

    /// The number of open connections.
    public var openConnectionCount: Int { listener.openCount }

    /// Closes every connection, waits for the server's threads, and releases the scripts.
    ///
    /// Further calls do nothing.
    public func stop() {
        listener.stop()
        state.stopOthers()
    }

    /// The requests received, in order of arrival.
    ///
    /// The control paths (`/log`, `/reset-state`, `/ports`) are not logged.
    public var log: [LogEntry] { state.log.entries }

    /// Clears the log; the counters of `times=` are kept.
    public func clearLog() { state.log.clear() }

    /// The requests for a path; if `path` has no query, every query matches.
    public func requests(toPath path: String) -> [LogEntry] {
        state.log.entries.filter { $0.isFor(path) }
    }

    /// The number of requests for a path; if `path` has no query, every query matches.
    public func count(path: String) -> Int { state.log.count { $0.isFor(path) } }

    /// Returns when this many requests have arrived, for any path or for one, or when the calling task is cancelled.
    package func requests(atLeast count: Int, toPath path: String? = nil) async {
        await state.log.entries(atLeast: count) { entry in path.map { entry.isFor($0) } ?? true }
    }

    /// Sets the script of a path; it takes precedence over a built-in path.
    ///
    /// A script that references the server keeps it alive until ``stop()``.
    ///
    /// - Parameters:
    ///   - path: the exact path, without a query.
    ///   - readsBody: whether the request's body is read before the script runs. If false, the script can read it with
    ///     ``Step/readBody``, or not at all. Defaults to true.
    ///   - script: returns the steps; runs on the connection's thread.
    public func on(
        _ path: String,
        readsBody: Bool = true,
        _ script: @escaping @Sendable (Request) -> [Step]
    ) {
        state.setScript(Script(readsBody: readsBody, steps: script), for: path)
    }
}

extension FaultServer {
    /// An error at the start of a ``FaultServer``.
    public enum Failure: LocalizedError, Sendable, Equatable, CustomStringConvertible {
        /// The port could not be bound, usually because another process listens on it.
        case cannotBind(port: UInt16, errno: Int32)
        /// The system refused a socket, a pipe or a thread; `call` is the call that failed.
        case outOfResources(call: String, errno: Int32)

        /// A sentence with the system's error message.
        public var description: String {
            switch self {
            case .cannotBind(let port, let code):
                return "cannot listen on 127.0.0.1:\(port): \(Self.text(of: code))"
            case .outOfResources(let call, let code):
                return "\(call) failed: \(Self.text(of: code))"
            }
        }

        /// The ``description``, for `localizedDescription`.
        public var errorDescription: String? { description }

        private static func text(of code: Int32) -> String {
            guard let text = strerror(code) else { return "errno \(code)" }
            return String(cString: text)
        }
    }
}
