// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import TLSFixture
import Testing

@testable import RefrainCurl

// One after the other, because each keeps a processor busy.
@Suite("CurlLoader: floods without content", .serialized, .timeLimit(.minutes(3)))
struct FloodTests {
    /// What a server sends over and over.
    enum Flood: CaseIterable {
        case keyUpdate
        /// Frames of HTTP/2 that have nothing for any stream (RFC 9113 §4.1, §6.3, §6.5, §6.7, §6.9).
        case unknownFrame, priority, settings, ping, windowUpdate

        func frame(_ stream: [UInt8]) -> [UInt8] {
            switch self {
            case .keyUpdate: []
            case .unknownFrame: [0, 0, 0, 0xfa, 0, 0, 0, 0, 0]
            case .priority: [0, 0, 5, 2, 0] + stream + [0, 0, 0, 0, 16]
            case .settings: [0, 0, 0, 4, 0, 0, 0, 0, 0]
            case .ping: [0, 0, 8, 6, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
            case .windowUpdate: [0, 0, 4, 8, 0, 0, 0, 0, 0] + [0, 0, 0, 1]
            }
        }
    }

    private func fixture(_ flood: Flood) throws -> (TLSFixture, RawServer) {
        let server = RawServer { connection in
            guard flood != .keyUpdate, connection.read(24) != nil else { return }
            connection.write([0, 0, 0, 4, 0, 0, 0, 0, 0])
            while let (type, _, stream) = connection.readFrame() {
                guard type == 1 else { continue }
                let frames = Array([[UInt8]](repeating: flood.frame(stream), count: 4096).joined())
                while connection.write(frames) {}
                return
            }
        }
        let fixture = try TLSFixture(upstreamPort: server.port, alpn: flood == .keyUpdate ? ["http/1.1"] : ["h2"])
        if flood == .keyUpdate { fixture.flood() }
        return (fixture, server)
    }

    @Test(
        "R20: a timeout ends a request to a server that floods, and requests to others go on",
        arguments: Flood.allCases
    )
    func timeout(flood: Flood) async throws {
        let (fixture, server) = try fixture(flood)
        let other = try FaultServer()
        defer { withExtendedLifetime(server) { fixture.stop() } }
        var configuration = CurlLoader.Configuration()
        configuration.trust = .certificateFile(fixture.caPath)
        let loader = try CurlLoader(configuration: configuration)
        var request = try HTTPRequest(fixture.baseURL + "/")
        request.attemptTimeout = .milliseconds(500)
        let flooded = request
        let start = ContinuousClock.now
        let task = Task { await loader.load(flooded) }
        var longest = Duration.zero
        for _ in 1...8 {
            try await Task.sleep(for: .milliseconds(50))
            let begin = ContinuousClock.now
            #expect(try await loader.response(for: HTTPRequest(other.baseURL + "/ok")).status == 200)
            longest = max(longest, ContinuousClock.now - begin)
        }
        let error = try failure(of: await task.value)
        #expect([.timedOut, .networkConnectionLost, .badServerResponse].contains(error.code), "\(error)")
        // 0.25 s later on a machine with nothing else to do.
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(longest < .seconds(15))
    }

    @Test("R9: a cancellation ends a request to a server that floods", arguments: [Flood.keyUpdate, .unknownFrame])
    func cancellation(flood: Flood) async throws {
        let (fixture, server) = try fixture(flood)
        defer { withExtendedLifetime(server) { fixture.stop() } }
        var configuration = CurlLoader.Configuration()
        configuration.trust = .certificateFile(fixture.caPath)
        let loader = try CurlLoader(configuration: configuration)
        let request = try HTTPRequest(fixture.baseURL + "/")
        let task = Task { await loader.load(request) }
        try await Task.sleep(for: .milliseconds(100))
        let start = ContinuousClock.now
        task.cancel()
        let error = try failure(of: await task.value)
        #expect([.cancelled, .networkConnectionLost, .badServerResponse].contains(error.code), "\(error)")
        #expect(ContinuousClock.now - start < .seconds(15))
    }
}
