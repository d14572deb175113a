// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import TLSFixture
import Testing

@testable import RefrainCLI

@Suite("Certificates of the client, of the command", .timeLimit(.minutes(10)))
struct ClientCertificateTests {
    private let server: FaultServer
    private let fixture: TLSFixture

    init() throws {
        server = try FaultServer()
        fixture = try TLSFixture(upstreamPort: server.port, requiresClientCertificate: true)
    }

    private func get(_ words: String...) async throws -> Executable.Ended {
        try await Executable.run(["get", "--cacert", fixture.caPath] + words + [fixture.baseURL + "/ok"])
    }

    @Test("--cert, --key and --pass take PEM and PKCS #12, also as curl writes them")
    func accepted() async throws {
        let pem = fixture.clientFile("client", "pem")
        let locked = fixture.clientFile("client", "locked.key")
        let bundle = fixture.clientFile("client", "p12")
        for words in [
            ["--cert", pem, "--key", fixture.clientFile("client", "key")],
            ["-E", pem, "--key", locked, "--pass", "secret"],
            ["-E", pem + ":secret", "--key", locked], ["-E", bundle, "--pass", "secret"], ["-E", bundle + ":secret"],
        ] {
            let ended = try await Executable.run(
                ["get", "--cacert", fixture.caPath] + words + [fixture.baseURL + "/ok"]
            )
            #expect(ended.status == 0 && ended.text == "ok\n", "\(words): \(ended.errors)")
        }
        #expect(fixture.handshakeCount == 5)
    }

    @Test("R8: without one, or with one that cannot be used, there is one attempt, and no password is shown")
    func refused() async throws {
        let none = try await get()
        #expect(none.status == 1 && none.errors.contains("clientCertificateRequired"), "\(none.errors)")
        let wrong = try await get("-E", fixture.clientFile("client", "p12") + ":guess")
        #expect(wrong.status == 1 && wrong.errors.contains("clientCertificateRejected"), "\(wrong.errors)")
        #expect(!wrong.errors.contains("guess"))
        #expect(fixture.handshakeCount == 0)
        #expect(server.log.isEmpty)
    }

    @Test("files that are none, and options that do not fit, are wrong usage")
    func usage() async throws {
        let pem = fixture.clientFile("client", "pem")
        for (words, culprit) in [
            (["--cert", "/nonexistent"], "--cert"), (["--cert", "/bin/sh"], "--cert"),
            (["--cert", pem, "--key", "/nonexistent"], "--key"), (["--key", pem], "--key"),
            (["--pass", "x"], "--pass"),
            (["--cert", fixture.clientFile("client", "key")], "--cert"),
            (["--cert", fixture.clientFile("client", "p12"), "--key", pem], "--key"),
            (["--cert", pem + ":x", "--report", pem], "--cert"),
        ] {
            let ended = try await Executable.run(["get"] + words + [fixture.baseURL + "/ok"])
            #expect(ended.status == 2 && ended.errors.contains(culprit), "\(words): \(ended.errors)")
        }
    }
}
