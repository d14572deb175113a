// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@testable import RefrainCLI

@Suite("Certificates in PEM form")
struct CertificateTextTests {
    private let whole = "-----BEGIN CERTIFICATE-----\nMIIBAAAA\nAAA=\n-----END CERTIFICATE-----\n"

    @Test("whole certificates are taken, with what else may stand in such a file")
    func takes() {
        #expect(CertificateText.isSound(whole))
        #expect(CertificateText.isSound("# ours\n\n" + whole + "Subject: x\n" + whole))
        #expect(CertificateText.isSound(whole.split(separator: "\n").joined(separator: " \r\n")))
        #expect(CertificateText.isSound("-----BEGIN RSA KEY-----\nProc-Type: 4\n-----END RSA KEY-----\n" + whole))
    }

    @Test(
        "what holds none, or a broken one, is refused",
        arguments: [
            "", "nonsense", "-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\nMIIBA\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\nMII!\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END KEY-----",
            "-----BEGIN KEY-----\nMIIB\n-----END KEY-----",
        ]
    )
    func refuses(text: String) {
        #expect(!CertificateText.isSound(text))
        #expect(!CertificateText.isSound(whole + "-----BEGIN CERTIFICATE-----\nMIIB\n"))
    }

    @Test("authorities may come through a pipe, and what is none is refused before anything is sent")
    func pipe() async throws {
        for (text, culprit) in [(whole, "cannotConnectToHost"), ("-----BEGIN CERTIFICATE-----\n", "--cacert")] {
            let pipe = try ScratchFile.pipe()
            let words = ["get", "--attempts", "1", "--cacert", pipe.path, "http://127.0.0.1:1/"]
            let running = try Executable.start(words)
            async let written: Void = pipe.write(text)
            let ended = await running.end()
            #expect(ended.errors.contains(culprit), "\(ended.errors)")
            await written
            pipe.remove()
        }
    }

    #if os(Linux)
    @Test("a file without a name can be read again and again")
    func nameless() throws {
        let path = try UnlinkedTemporaryFile.path(holding: Array(whole.utf8))
        for _ in 1...2 { #expect(try Input(path: path).rest() == Array(whole.utf8)) }
    }
    #endif
}
