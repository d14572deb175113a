// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@testable import RefrainURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#else
import Foundation
#endif

@Suite("URLSessionLoader: trust, host by host", .timeLimit(.minutes(10)))
struct TrustTests {
    static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]

    @Test("keys of RSA are wrapped as certificates have them", arguments: [(270, 0x22), (398, 0xA2), (526, 0x22)])
    func rsa(count: Int, low: UInt8) {
        // The sizes of keys of 2048, 3072 and 4096 bits in PKCS #1.
        let info = SubjectPublicKeyInfo.rsa([UInt8](repeating: 7, count: count))
        let high = UInt8(count == 526 ? 2 : 1)
        let bits = count + 1
        let end: [UInt8] = [0x05, 0x00, 0x03, 0x82, UInt8(bits >> 8), UInt8(bits & 0xFF), 0x00]
        #expect(Array(info.prefix(24)) == [0x30, 0x82, high, low, 0x30, 0x0D, 0x06, 0x09] + Self.rsa + end)
        #expect(info.count == count + 24)
    }

    @Test("keys of elliptic curves are wrapped as certificates have them")
    func curves() {
        let key: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        let heads: [(Int, [UInt8])] = [
            (65, [0x30, 0x59, 0x30, 0x13] + key + [0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7, 3, 0x42, 0]),
            (97, [0x30, 0x76, 0x30, 0x10] + key + [0x06, 5, 0x2B, 0x81, 4, 0, 0x22, 3, 0x62, 0]),
            (133, [0x30, 0x81, 0x9B, 0x30, 0x10] + key + [0x06, 5, 0x2B, 0x81, 4, 0, 0x23, 3, 0x81, 0x86, 0]),
        ]
        for (count, head) in heads {
            let point = [UInt8](repeating: 4, count: count)
            #expect(SubjectPublicKeyInfo.ellipticCurve(point) == head + point)
        }
        #expect(SubjectPublicKeyInfo.ellipticCurve([4]) == nil)
    }

    @Test("a host without an evaluator is refused before anything is sent")
    func refusedHost() async throws {
        #if canImport(Darwin)
        let trust = try ServerTrust(evaluators: ["api.example.com": .system])
        let loader = try URLSessionLoader(configuration: .ephemeral, serverTrust: trust)
        let error = try failure(of: await loader.load(HTTPRequest("https://127.0.0.1:1/")))
        #expect(error.code == .serverCertificateUntrusted)
        #expect(error.bytesSent == 0)
        #endif
    }

    #if !canImport(Darwin)
    @Test("where URLSession has no trust evaluation, a ServerTrust is refused with the reason")
    func refusedOnLinux() throws {
        let trust = try ServerTrust(evaluators: [:])
        let error = #expect(throws: InvalidArgument.self) {
            try URLSessionLoader(configuration: .ephemeral, serverTrust: trust)
        }
        #expect(error?.description.contains("CurlLoader") == true)
    }
    #endif
}
