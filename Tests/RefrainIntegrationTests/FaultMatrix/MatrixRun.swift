import RefrainCore
import RefrainCurl
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

/// The servers that the cells meet, and the way to meet them.
final class MatrixRun: Sendable {
    let server: FaultServer
    private let modes: [FaultServer.Mode: FaultServer]
    private let fixtures: [String: TLSFixture]
    private let folder: String

    init() throws {
        let server = try FaultServer()
        self.server = server
        // A body whose end is the end of the connection.
        server.on("/until-close") { _ in
            [
                .text("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nall of it\n"), .close,
            ]
        }
        var modes: [FaultServer.Mode: FaultServer] = [:]
        for mode in FaultServer.Mode.allCases where mode != .normal { modes[mode] = try FaultServer(mode: mode) }
        self.modes = modes
        let port = server.port
        fixtures = [
            "expired": try TLSFixture(upstreamPort: port, identity: .expired),
            "not yet valid": try TLSFixture(upstreamPort: port, identity: .notYetValid),
            "self-signed": try TLSFixture(upstreamPort: port, identity: .selfSigned),
            "wrong host": try TLSFixture(upstreamPort: port, identity: .wrongHost),
            "untrusted root": try TLSFixture(upstreamPort: port, identity: .untrustedRoot),
            "end without close_notify": try TLSFixture(upstreamPort: port, closeNotify: false),
            "end with close_notify": try TLSFixture(upstreamPort: port),
        ]
        folder = FileManager.default.temporaryDirectory.appending(path: "refrain-matrix-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func stop() {
        for fixture in fixtures.values { fixture.stop() }
        for server in modes.values { server.stop() }
        server.stop()
    }

    /// The requests of a cell that the server has read.
    func arrivals(_ token: String) -> [FaultServer.LogEntry] { server.log.filter { $0.path.contains(token) } }

    /// Meets the fault of a cell once; `token` tells its requests from those of all others.
    func meet(_ cell: MatrixCell, token: String) async throws -> Observation {
        if cell.fault.hasPrefix("mode: ") { return try await meetMode(cell, token) }
        let (base, target) = try place(of: cell.fault, token)
        let loader = try loader(for: cell.fault)
        if cell.connection == .reused { try await warmUp(loader, base) }
        let result = try await send(cell, base + target, through: loader, token)
        let expected = cell.expected.arrivals ?? result.attempts.count
        _ = await eventually { self.arrivals(token).count >= expected }
        let arrived = arrivals(token)
        return observation(result, arrivals: arrived.count, firstNumber: arrived.first?.number)
    }

    /// A server whose connections fail serves no request before, so another one of the same port does.
    private func meetMode(_ cell: MatrixCell, _ token: String) async throws -> Observation {
        let mode = try #require(FaultServer.Mode(rawValue: String(cell.fault.dropFirst("mode: ".count))))
        let loader = try loader(for: cell.fault)
        guard cell.connection == .reused else {
            let server = try #require(modes[mode])
            let result = try await send(cell, "\(server.baseURL)/ok?key=\(token)", through: loader, token)
            return observation(result, arrivals: server.log.count { $0.path.contains(token) })
        }
        for _ in 1...20 {
            let before = try FaultServer()
            try await warmUp(loader, before.baseURL)
            before.stop()
            // The end of the connection has to reach the loader's side of it.
            try await Task.sleep(for: .milliseconds(50))
            let after: FaultServer?
            do {
                after = mode == .refuse ? nil : try FaultServer(port: before.port, mode: mode)
            } catch {
                // Somebody else was given the port.
                continue
            }
            let result = try await send(cell, "\(before.baseURL)/ok?key=\(token)", through: loader, token)
            let arrivals = (before.log + (after?.log ?? [])).count { $0.path.contains(token) }
            after?.stop()
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

    private func warmUp(_ loader: CurlLoader, _ base: String) async throws {
        let response = try await loader.response(for: HTTPRequest("\(base)/ok?key=warm-up"))
        #expect(response.status == 200)
    }

    private func place(of fault: String, _ token: String) throws -> (base: String, target: String) {
        guard fault.hasPrefix("tls: ") else {
            // The target of a redirect carries the token, too, so that each hop is counted.
            var target = fault
            if let place = target.firstRange(of: "url=/ok") {
                target.insert(contentsOf: "%3Fkey%3D\(token)", at: place.upperBound)
            }
            return (server.baseURL, target + (target.contains("?") ? "&" : "?") + "key=\(token)")
        }
        let name = String(fault.dropFirst("tls: ".count))
        if name == "plain text" { return ("https://127.0.0.1:\(server.port)", "/ok?key=\(token)") }
        return (try #require(fixtures[name]).baseURL, "/until-close?key=\(token)")
    }

    private func loader(for fault: String) throws -> CurlLoader {
        var configuration = CurlLoader.Configuration()
        configuration.maximumConnectionsPerHost = 1
        if let fixture = fixtures[String(fault.dropFirst("tls: ".count))] {
            configuration.trust = .certificateFile(fixture.caPath)
        }
        return try CurlLoader(configuration: configuration)
    }

    private func send(
        _ cell: MatrixCell,
        _ url: String,
        through transport: CurlLoader,
        _ token: String
    ) async throws -> HTTPResult {
        let schedule = try Backoff.exponential(from: .milliseconds(5), maximumNumberOfAttempts: 3)
        let policy = RetryPolicy.recommended.with(schedule: schedule)
        let chain = Redirect() --> Retry(policy, budgets: nil) --> Resume() --> transport
        var request = try HTTPRequest(url)
        request.maximumBodySize = 1 << 20
        if cell.fault.contains("hang") { request.timeouts.total = .seconds(1) }
        if cell.fault.contains("never") { request.timeouts.connect = .seconds(1) }
        cell.request.shape(&request)
        guard cell.request == .download else { return await chain.load(request) }
        let sink = try FileSink(path: folder + "/" + token)
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
