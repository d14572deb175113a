// SPDX-License-Identifier: Apache-2.0
extension CurlLoader {
    /// The certificate and the key with which a client proves its identity to servers that request it (mutual TLS).
    ///
    /// ```swift
    /// var configuration = CurlLoader.Configuration()
    /// configuration.clientCertificate = .pem(
    ///     "client.pem", key: "client.key"
    /// )
    /// ```
    ///
    /// The files are read for each connection. Without a certificate that the server accepts, requests fail with
    /// ``/RefrainHTTP/HTTPError/Code/clientCertificateRequired`` or
    /// ``/RefrainHTTP/HTTPError/Code/clientCertificateRejected``; with a file, a key or a password that cannot be used
    /// they fail with ``/RefrainHTTP/HTTPError/Code/clientCertificateRejected`` before anything is sent. None of these
    /// is retried (rule R8). The certificate is sent to every server that requests one, also after redirects
    /// (RFC 8446 §4.3.2).
    public struct ClientCertificate: Hashable, Sendable {
        enum Format: String {
            case pem = "PEM"
            case pkcs12 = "P12"
        }

        /// A password, which descriptions omit.
        struct Password: Hashable, CustomStringConvertible, CustomReflectable {
            let text: String
            var description: String { "(left out)" }
            var customMirror: Mirror { Mirror(self, children: []) }
        }

        let format: Format
        let path: String
        let keyPath: String?
        let password: Password?

        private init(_ format: Format, _ path: String, key: String? = nil, _ password: String?) {
            self.format = format
            self.path = path
            keyPath = key
            self.password = password.map { Password(text: $0) }
        }

        /// A certificate, followed by those of intermediate authorities, in a PEM file (RFC 7468).
        ///
        /// - Parameters:
        ///   - path: the file of the certificates.
        ///   - key: the file of the private key; defaults to the file of the certificates.
        ///   - password: the password of the private key, if that is encrypted.
        public static func pem(_ path: String, key: String? = nil, password: String? = nil) -> ClientCertificate {
            ClientCertificate(.pem, path, key: key, password)
        }

        /// A certificate and its key in a file of PKCS #12 (RFC 7292).
        ///
        /// OpenSSL 3 reads files with the ciphers of the nineties, such as RC2, only with its legacy provider enabled.
        ///
        /// - Parameters:
        ///   - path: the file.
        ///   - password: the password of the file; defaults to the empty string.
        public static func pkcs12(_ path: String, password: String? = nil) -> ClientCertificate {
            ClientCertificate(.pkcs12, path, password)
        }

        var files: [String] { [path] + (keyPath.map { [$0] } ?? []) }
    }
}
