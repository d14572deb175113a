// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import TLSFixture
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What became of a cell.
struct Observation: Sendable {
    var outcome: String
    var attempts: [AttemptRecord]
    /// The requests that the server has read.
    var arrivals: Int
    /// The position of the first of them on its connection.
    var firstNumber: Int?
    var message: String
}

/// One fault, with the servers that show it, and the way to meet it.
final class MatrixRun: Sendable {
    let server: FaultServer
    private let fault: String
    private let mode: FaultServer.Mode?
    private let modeServer: FaultServer?
    private let fixture: TLSFixture?
    private let folder: String

    init(fault: String) throws {
        self.fault = fault
        server = try FaultServer()
        // A body whose end is the end of the connection.
        server.on("/until-close") { _ in
            [
                .text("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nall of it\n"), .close,
            ]
        }
        let parts = fault.split(separator: ":", maxSplits: 1).map(String.init)
        let name = String(parts.last?.dropFirst() ?? "")
        mode = parts.first == "mode" ? FaultServer.Mode(rawValue: name) : nil
        modeServer = try mode.map { try FaultServer(mode: $0) }
        fixture = parts.first == "tls" ? try Self.fixture(name, server.port) : nil
        folder = FileManager.default.temporaryDirectory.appending(path: "refrain-matrix-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private static func fixture(_ name: String, _ port: UInt16) throws -> TLSFixture? {
        switch name {
        case "plain text": nil
        case "expired": try TLSFixture(upstreamPort: port, identity: .expired)
        case "not yet valid": try TLSFixture(upstreamPort: port, identity: .notYetValid)
        case "self-signed": try TLSFixture(upstreamPort: port, identity: .selfSigned)
        case "wrong host": try TLSFixture(upstreamPort: port, identity: .wrongHost)
        case "untrusted root": try TLSFixture(upstreamPort: port, identity: .untrustedRoot)
        case "end without close_notify": try TLSFixture(upstreamPort: port, closeNotify: false)
        case "end with close_notify": try TLSFixture(upstreamPort: port)
        default: throw Unexpected()
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func stop() {
        fixture?.stop()
        modeServer?.stop()
        server.stop()
    }

    /// The requests of a cell that the server has read.
    func arrivals(_ token: String) -> [FaultServer.LogEntry] { server.log.filter { $0.path.contains(token) } }

    /// Meets the fault of a cell once; `token` tells its requests from those of all others.
    func meet(_ cell: MatrixCell, token: String) async throws -> Observation {
        try await MatrixTransport.with(trusting: fixture?.caPath) { loader in
            if let mode { return try await meetMode(mode, cell, token, loader) }
            return try await meet(cell, token, loader)
        }
    }

    private func meet(
        _ cell: MatrixCell,
        _ token: String,
        _ loader: MatrixTransport.Loader
    ) async throws -> Observation {
        let (base, target) = place(token)
        if cell.connection == .reused { try await warmUp(loader, base) }
        let result = try await send(cell, base + target, through: loader, token)
        let expected = cell.expected.arrivals?.lowerBound ?? result.attempts.count
        _ = await eventually { self.arrivals(token).count >= expected }
        let arrived = arrivals(token)
        return observation(result, arrivals: arrived.count, firstNumber: arrived.first?.number)
    }

    /// A server whose connections fail serves no request before, so another one of the same port does.
    private func meetMode(
        _ mode: FaultServer.Mode,
        _ cell: MatrixCell,
        _ token: String,
        _ loader: MatrixTransport.Loader
    ) async throws -> Observation {
        guard cell.connection == .reused else {
            let server = try #require(modeServer)
            let result = try await send(cell, "\(server.baseURL)/ok?key=\(token)", through: loader, token)
            return observation(result, arrivals: server.log.count { $0.path.contains(token) })
        }
        for _ in 1...20 {
            let before = try FaultServer()
            try await warmUp(loader, before.baseURL)
            before.stop()
            // The end of the connection has to reach the loader's side of it, whose thread may wait for a processor.
            try await Task.sleep(for: .milliseconds(250))
            let after: FaultServer
            do {
                after = try FaultServer(port: before.port, mode: mode)
            } catch {
                // Another process was given the port.
                continue
            }
            let result = try await send(cell, "\(before.baseURL)/ok?key=\(token)", through: loader, token)
            let arrivals = (before.log + after.log).count { $0.path.contains(token) }
            after.stop()
            return observation(result, arrivals: arrivals)
        }
        throw Unexpected()
    }

    private func observation(_ result: HTTPResult, arrivals: Int, firstNumber: Int? = nil) -> Observation {
        let (outcome, message) =
            switch result {
            case .success(let response): (response.status.description, "")
            case .failure(let error): (error.code.rawValue, "\(error)")
            }
        return Observation(
            outcome: outcome,
            attempts: result.attempts,
            arrivals: arrivals,
            firstNumber: firstNumber,
            message: message
        )
    }

    private func warmUp(_ loader: MatrixTransport.Loader, _ base: String) async throws {
        let response = try await loader.response(for: HTTPRequest("\(base)/ok?key=warm-up"))
        #expect(response.status == 200)
    }

    private func place(_ token: String) -> (base: String, target: String) {
        if let fixture { return (fixture.baseURL, "/until-close?key=\(token)") }
        // Nothing there speaks TLS.
        if fault.hasPrefix("tls: ") { return ("https://127.0.0.1:\(server.port)", "/ok?key=\(token)") }
        var target = fault
        // The target of a redirect carries the token, too, so that each hop is counted.
        if let place = target.firstRange(of: "url=/ok") {
            target.insert(contentsOf: "%3Fkey%3D\(token)", at: place.upperBound)
        }
        return (server.baseURL, target + (target.contains("?") ? "&" : "?") + "key=\(token)")
    }

    private func send(
        _ cell: MatrixCell,
        _ url: String,
        through transport: MatrixTransport.Loader,
        _ token: String
    ) async throws -> HTTPResult {
        let schedule = Backoff.exponential(from: .milliseconds(5), maxAttempts: 3)
        let policy = RetryPolicy.recommended.with(schedule: schedule)
        let chain = Redirect() --> Retry(policy, budgets: nil) --> Resume() --> transport
        var request = try HTTPRequest(url)
        request.maximumBodySize = 1 << 20
        // Where the outcome does not hang on it, the limit is only there to end a test that hangs.
        request.timeouts.total = .seconds(fault.contains("hang") ? 2 : 60)
        if mode == .neverAccept { request.timeouts.connect = .seconds(1) }
        cell.request.shape(&request)
        guard cell.request == .download else { return await chain.load(request) }
        let sink = try Download.FileSink(path: folder + "/" + token)
        request.download = Download(to: sink)
        let result = await chain.load(request)
        sink.discard()
        return result
    }
}

extension RequestKind {
    fileprivate func shape(_ request: inout HTTPRequest) {
        switch self {
        case .get, .download: break
        case .put:
            request.method = .put
            request.body = .text("a small body")
        case .upload:
            request.method = .put
            request.body = .stream { Self.chunks(100) }
        case .post, .keyedPost:
            request.method = .post
            request.body = .text("a small body")
            if self == .keyedPost { request.idempotencyKey = .generated }
        case .oneShotPost:
            request.method = .post
            request.body = .oneShot(Self.chunks(2), length: 2000)
        }
    }

    private static func chunks(_ count: Int) -> AsyncStream<[UInt8]> {
        AsyncStream { continuation in
            for number in 0..<count {
                continuation.yield([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1000))
            }
            continuation.finish()
        }
    }
}
