// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TLSFixture
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("TLSFixture", .serialized, .offPool, .timeLimit(.minutes(10)))
struct TLSFixtureTests {
    private static let request = "GET /bytes/100000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    @Test(
        "each identity fails in its own way, and only in that",
        arguments: [
            // X509_V_OK, CERT_HAS_EXPIRED, CERT_NOT_YET_VALID, DEPTH_ZERO_SELF_SIGNED_CERT, HOSTNAME_MISMATCH,
            // UNABLE_TO_VERIFY_LEAF_SIGNATURE after UNABLE_TO_GET_ISSUER_CERT_LOCALLY
            (TLSFixture.Identity.valid, [0]), (.expired, [10]), (.notYetValid, [9]), (.selfSigned, [18]),
            (.wrongHost, [62]), (.untrustedRoot, [20, 21]),
        ]
    )
    func identities(_ identity: TLSFixture.Identity, _ codes: [Int]) throws {
        let server = try FaultServer()
        let fixture = try TLSFixture(upstreamPort: server.port, identity: identity)
        let probe = TLSProbe(port: fixture.port, caPath: fixture.caPath, request: Self.request)
        #expect(codes.contains(probe.verification), "\(probe.verification)")
        #expect(probe.end == .closeNotify)
        #expect(probe.choseHTTP1)
        let (response, _) = try #require(RawResponse.parse(probe.bytes))
        #expect(response["X-Content-SHA256"] == SHA256.hex(of: response.body))
        #expect(fixture.handshakeCount == 1)
        fixture.stop()
        fixture.stop()
        #expect(access(fixture.caPath, F_OK) != 0)
        server.stop()
    }

    @Test("without close_notify the connection ends bare, with all of its bytes")
    func bareEnd() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let fixture = try TLSFixture(upstreamPort: server.port, closeNotify: false)
        defer { fixture.stop() }
        let probe = TLSProbe(port: fixture.port, caPath: fixture.caPath, request: Self.request)
        #expect(probe.end == .bareEnd)
        #expect(RawResponse.parse(probe.bytes)?.0.body.count == 100_000)
    }

    @Test("a reset of the upstream reaches the client as one; no ALPN is agreed on where none is offered")
    func reset() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let fixture = try TLSFixture(upstreamPort: server.port, alpn: [])
        defer { fixture.stop() }
        let request = "GET /reset-before HTTP/1.1\r\n\r\n"
        let probe = TLSProbe(port: fixture.port, caPath: fixture.caPath, request: request)
        #expect(probe.end == .broken && probe.bytes.isEmpty && !probe.choseHTTP1)
        #expect(server.count(path: "/reset-before") == 1)
    }

    @Test("TLS to the plain port is answered at once in plain text, and the server lives")
    func plainText() throws {
        let server = try FaultServer()
        defer { server.stop() }
        #expect(TLSProbe(port: server.port, caPath: "/dev/null", request: "").end == .noHandshake)
        let client = try RawClient(server.port)
        client.send([0x16, 3, 1, 2, 0, 1])
        #expect(client.response()?.status == 400)
        #expect(try RawClient.fetch(server.port, "/ok")?.status == 200)
    }

    @Test("40 connections at once pass whole; plain text to the TLS port and stop() in mid-exchange do no harm")
    func many() throws {
        let server = try FaultServer()
        let fixture = try TLSFixture(upstreamPort: server.port)
        let (port, path) = (fixture.port, fixture.caPath)
        let good = Locked(0)
        inParallel(40) { _ in
            let probe = TLSProbe(port: port, caPath: path, request: Self.request)
            if RawResponse.parse(probe.bytes)?.0.body.count == 100_000 { good.withLock { $0 += 1 } }
        }
        #expect(good.withLock { $0 } == 40)
        let plain = try RawClient(port)
        plain.request("/ok")
        #expect(plain.readAll().end != .timeout)
        inParallel(2) { index in
            if index == 0 {
                let probe = TLSProbe(port: port, caPath: path, request: "GET /hang HTTP/1.1\r\n\r\n")
                #expect(probe.bytes.isEmpty)
            } else {
                while server.count(path: "/hang") == 0 { Thread.pause() }
                fixture.stop()
            }
        }
        server.stop()
    }
}
