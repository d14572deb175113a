// SPDX-License-Identifier: Apache-2.0
internal import CTLSRelay

/// What a plain TLS client sees of a port on loopback when it asks for `localhost`.
public struct TLSProbe: Sendable {
    /// How the connection ended.
    public enum End: Int, Sendable {
        /// Nothing listens.
        case noConnection
        /// TLS did not come about.
        case noHandshake
        /// TLS was ended as it should be.
        case closeNotify
        /// TCP was closed, TLS was not.
        case bareEnd
        /// The connection was reset, or timed out.
        case broken
    }

    /// OpenSSL's verdict on the certificate (an `X509_V_` code), 0 where it is good, -1 without a handshake.
    public let verification: Int
    /// Whether `http/1.1` was agreed on by ALPN; `h2` is offered before it.
    public let choseHTTP1: Bool
    /// How the connection ended.
    public let end: End
    /// What came back, at most 1 MiB.
    public let bytes: [UInt8]

    /// Connects, sends `request` and reads to the end of the connection.
    public init(port: UInt16, caPath: String, request: String) {
        var result = tls_probe_result()
        bytes = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
            result = tls_probe(port, caPath, request, buffer.baseAddress, buffer.count)
            count = result.count
        }
        verification = Int(result.verification)
        choseHTTP1 = result.chose_http1 != 0
        end = End(rawValue: Int(result.end.rawValue)) ?? .broken
    }
}
