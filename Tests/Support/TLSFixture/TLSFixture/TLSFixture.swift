// SPDX-License-Identifier: Apache-2.0
internal import CTLSRelay
internal import RefrainCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A relay on loopback that ends TLS in front of a TCP port.
///
/// Each fixture makes its own root and its own certificate when it starts; ``caPath`` is the root as a PEM file.
public final class TLSFixture: Sendable {
    /// What is right or wrong with the certificate that is shown.
    public enum Identity: Int, Sendable, CaseIterable {
        /// Signed by the root, for `localhost` and the loopback addresses.
        case valid
        /// As ``valid``, but it ended yesterday.
        case expired
        /// As ``valid``, but it begins tomorrow.
        case notYetValid
        /// Signed by itself.
        case selfSigned
        /// Signed by the root, for `wrong.example`.
        case wrongHost
        /// Signed by another root than the one in ``TLSFixture/caPath``.
        case untrustedRoot
    }

    /// Why a fixture could not start.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// One line for people.
        public let description: String
    }

    /// A raw pointer that only goes to functions of the relay.
    private struct Handle: @unchecked Sendable {
        // @unchecked Sendable: the relay locks its own state.
        let relay: OpaquePointer
    }

    /// The port that the relay listens on.
    public let port: UInt16
    /// The root certificate as a PEM file; it is removed by ``stop()``.
    public let caPath: String

    private let directory: String
    private let handle: Locked<Handle?>

    /// Starts a relay.
    ///
    /// - Parameters:
    ///   - upstreamPort: the port on 127.0.0.1 that gets the bytes.
    ///   - identity: what is wrong with the certificate.
    ///   - closeNotify: whether TLS is ended as it should be before the connection is closed.
    ///   - alpn: protocols that are accepted, best first; if there are none, the extension is ignored.
    ///   - requiresClientCertificate: whether a client must show a certificate that the root has signed.
    ///   - isOld: whether TLS 1.2 is the latest version that is spoken.
    public init(
        upstreamPort: UInt16,
        identity: Identity = .valid,
        closeNotify: Bool = true,
        alpn: [String] = ["http/1.1"],
        requiresClientCertificate: Bool = false,
        isOld: Bool = false
    ) throws(Failure) {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/refrain-tls-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(description: "no directory in \(base)") }
        let directory = template.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { String(cString: $0) } ?? base
        }
        let caPath = directory + "/ca.pem"
        let names = alpn.flatMap { [UInt8($0.utf8.count & 0xff)] + Array($0.utf8) }
        var text = [CChar](repeating: 0, count: 256)
        let relay = tls_relay_start(
            upstreamPort,
            tls_identity(UInt32(identity.rawValue)),
            closeNotify ? 1 : 0,
            names,
            names.count,
            caPath,
            requiresClientCertificate ? directory : nil,
            isOld ? 1 : 0,
            &text,
            text.count
        )
        guard let relay else {
            Self.remove(directory)
            throw Failure(
                description: String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            )
        }
        self.directory = directory
        self.caPath = caPath
        port = tls_relay_port(relay)
        handle = Locked(Handle(relay: relay))
    }

    deinit { stop() }

    /// `https://127.0.0.1:PORT`, without a slash at its end.
    public var baseURL: String { "https://127.0.0.1:\(port)" }

    /// How many handshakes were completed.
    public var handshakeCount: Int {
        handle.withLock { $0.map { Int(tls_relay_handshakes($0.relay)) } ?? 0 }
    }

    /// How many bytes of the upstream were passed on to clients.
    public var bytesPassedOn: Int {
        handle.withLock { $0.map { Int(tls_relay_passed_on($0.relay)) } ?? 0 }
    }

    /// Answers requests on later connections with TLS 1.3's KeyUpdate, over and over, and nothing else.
    public func flood() { handle.withLock { if let handle = $0 { tls_relay_flood(handle.relay) } } }

    /// Ends every connection and waits for the relay's threads.
    ///
    /// Further calls do nothing.
    public func stop() {
        let taken = handle.withLock { handle in
            let taken = handle
            handle = nil
            return taken
        }
        guard let taken else { return }
        tls_relay_stop(taken.relay)
        Self.remove(directory)
    }

    /// A certificate of a client, for a fixture that requires one; its files are removed by ``stop()``.
    ///
    /// - Parameters:
    ///   - name: `client`, which the root has signed, `stranger`, which another one has, `expired`, or `server`, which
    ///     is for servers alone.
    ///   - ending: `pem`, `key`, `locked.key` or `p12`; the password of the last two is `secret`.
    public func clientFile(_ name: String, _ ending: String) -> String {
        directory + "/" + name + (ending == "locked.key" ? "-" : ".") + ending
    }

    private static func remove(_ directory: String) {
        unlink(directory + "/ca.pem")
        for name in ["client", "stranger", "expired", "server"] {
            for ending in [".pem", ".key", "-locked.key", ".p12"] { unlink(directory + "/" + name + ending) }
        }
        rmdir(directory)
    }
}
