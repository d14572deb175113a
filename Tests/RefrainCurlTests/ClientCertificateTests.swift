// SPDX-License-Identifier: Apache-2.0
import CurlShim
import RefrainCore
import RefrainHTTP
import RefrainTesting
import TLSFixture
import Testing

@testable import RefrainCurl

@Suite("CurlLoader: certificates of the client (mutual TLS)", .timeLimit(.minutes(10)))
struct ClientCertificateTests {
    private let server: FaultServer
    private let fixture: TLSFixture

    init() throws {
        server = try FaultServer()
        fixture = try TLSFixture(upstreamPort: server.port, requiresClientCertificate: true)
    }

    private func loader(_ certificate: CurlLoader.ClientCertificate?) throws -> CurlLoader {
        var configuration = CurlLoader.Configuration()
        configuration.trust = .certificateFile(fixture.caPath)
        configuration.clientCertificate = certificate
        return try CurlLoader(configuration: configuration)
    }

    /// Loads with retries, so that a failure which is tried again shows.
    private func load(_ certificate: CurlLoader.ClientCertificate?) async throws -> HTTPResult {
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 3))
        let loader = try loader(certificate)
        return await (Retry(policy, budgets: nil) --> loader).load(try HTTPRequest(fixture.baseURL + "/ok"))
    }

    @Test("a certificate of PEM or of PKCS #12, with an encrypted key or without, opens the connection")
    func accepted() async throws {
        let pem = fixture.clientFile("client", "pem")
        for certificate: CurlLoader.ClientCertificate in [
            .pem(pem, key: fixture.clientFile("client", "key")),
            .pem(pem, key: fixture.clientFile("client", "locked.key"), password: "secret"),
            .pkcs12(fixture.clientFile("client", "p12"), password: "secret"),
        ] {
            let before = fixture.handshakeCount
            #expect(try await load(certificate).get().status == 200)
            #expect(fixture.handshakeCount == before + 1)
        }
        #expect(server.count(path: "/ok") == 3)
    }

    @Test("R8: without a certificate, and with one of another authority, a request fails once, and does not arrive")
    func refused() async throws {
        let none = try failure(of: await load(nil))
        #expect(none.code == .clientCertificateRequired, "\(none)")
        #expect(none.attempts.count == 1)
        let stranger = CurlLoader.ClientCertificate.pem(
            fixture.clientFile("stranger", "pem"),
            key: fixture.clientFile("stranger", "key")
        )
        let foreign = try failure(of: await load(stranger))
        #expect(foreign.code == .clientCertificateRejected, "\(foreign)")
        #expect(foreign.attempts.count == 1)
        #expect(fixture.handshakeCount == 0)
        #expect(server.log.isEmpty)
    }

    @Test(
        "R8: a certificate that has ended, and one that is for servers, fails once, in each version of TLS",
        arguments: ["stranger", "expired", "server"],
        [false, true]
    )
    func unacceptable(name: String, isOld: Bool) async throws {
        let fixture = try TLSFixture(upstreamPort: server.port, requiresClientCertificate: true, isOld: isOld)
        defer { fixture.stop() }
        var configuration = CurlLoader.Configuration()
        configuration.trust = .certificateFile(fixture.caPath)
        configuration.clientCertificate = .pem(fixture.clientFile(name, "pem"), key: fixture.clientFile(name, "key"))
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 3))
        let loader = Retry(policy, budgets: nil) --> (try CurlLoader(configuration: configuration))
        let error = try failure(of: await loader.load(HTTPRequest(fixture.baseURL + "/ok")))
        #expect(error.code == .clientCertificateRejected, "\(error)")
        #expect(error.attempts.count == 1)
        #expect(server.log.isEmpty)
    }

    @Test("R8: an alert on a certificate where none was shown means that one is wanted")
    func alertWithoutCertificate() {
        for (alert, hasCertificate, code) in [
            ("sslv3 alert bad certificate", false, HTTPError.Code.clientCertificateRequired),
            ("sslv3 alert bad certificate", true, .clientCertificateRejected),
            ("tlsv13 alert certificate required", true, .clientCertificateRequired),
            ("sslv3 alert certificate revoked", true, .clientCertificateRejected),
            ("tlsv1 alert access denied", true, .clientCertificateRejected),
            ("sslv3 alert handshake failure", false, .secureConnectionFailed),
        ] {
            let mapping = CurlErrorMapping(
                result: CURLE_SSL_CONNECT_ERROR,
                message: "OpenSSL/3.0.19: error:0A000412:SSL routines::" + alert,
                hasClientCertificate: hasCertificate
            )
            #expect(mapping.code == code, "\(alert)")
        }
    }

    @Test("R8: a wrong password, or the key of another certificate, fails once, before anything is sent")
    func unusable() async throws {
        let pem = fixture.clientFile("client", "pem")
        for certificate: CurlLoader.ClientCertificate in [
            .pkcs12(fixture.clientFile("client", "p12"), password: "wrong"),
            .pkcs12(fixture.clientFile("client", "p12")),
            .pem(pem, key: fixture.clientFile("client", "locked.key")),
            .pem(pem, key: fixture.clientFile("client", "locked.key"), password: "wrong"),
            .pem(pem, key: fixture.clientFile("stranger", "key")), .pem(pem), .pkcs12(pem),
        ] {
            let error = try failure(of: await load(certificate))
            #expect(error.code == .clientCertificateRejected, "\(certificate): \(error)")
            #expect(error.attempts.count == 1)
            #expect(error.bytesSent == 0)
            #expect(!"\(error)".contains("secret"))
        }
        #expect(server.log.isEmpty)
    }

    @Test("no description of a certificate shows its password")
    func description() throws {
        var configuration = CurlLoader.Configuration()
        configuration.clientCertificate = .pkcs12("/client.p12", password: "secret")
        var text = ""
        dump(configuration, to: &text)
        for shown in [text, "\(configuration)", String(reflecting: configuration)] {
            #expect(shown.contains("/client.p12") && shown.contains("left out") && !shown.contains("secret"))
        }
    }

    @Test("R31: a file that is not there is refused where the loader is made")
    func missing() throws {
        for certificate: CurlLoader.ClientCertificate in [
            .pem("/nonexistent"), .pkcs12("/nonexistent"),
            .pem(fixture.clientFile("client", "pem"), key: "/nonexistent\0"),
        ] {
            let error = #expect(throws: InvalidArgument.self) { try loader(certificate) }
            #expect(error?.argument == "clientCertificate")
        }
    }

    @Test("loaders with different certificates share no connection, and the trust of a host does not take them away")
    func perHost() async throws {
        var configuration = CurlLoader.Configuration()
        configuration.serverTrust = try ServerTrust(evaluators: ["127.0.0.1": .certificateFile(fixture.caPath)])
        configuration.clientCertificate = .pem(
            fixture.clientFile("client", "pem"),
            key: fixture.clientFile("client", "key")
        )
        let loader = try CurlLoader(configuration: configuration)
        #expect(try await loader.response(for: HTTPRequest(fixture.baseURL + "/ok")).status == 200)
    }
}
