// SPDX-License-Identifier: Apache-2.0
internal import CurlShim
internal import RefrainHTTP

/// The TLS options of a handle: its trust in servers, and its own certificate.
///
/// They are set once per handle.
struct TLSOptions: Hashable {
    private let authorities: ServerTrust.Evaluator.Authorities
    /// The pinned keys in libcurl's form; nil for any key.
    private(set) var pins: String?
    /// A folder of further authorities; nil: only those of the system.
    private var folder: String?
    private let certificate: CurlLoader.ClientCertificate?

    /// Whether there is a certificate to send to servers.
    var hasCertificate: Bool { certificate != nil }

    init(_ evaluator: ServerTrust.Evaluator, _ certificate: CurlLoader.ClientCertificate? = nil) {
        self.certificate = certificate
        authorities = evaluator.authorities
        pins = evaluator.pins.isEmpty ? nil : evaluator.pins.map(\.description).joined(separator: ";")
    }

    init(
        _ trust: CurlLoader.Trust,
        _ certificate: CurlLoader.ClientCertificate? = nil,
        _ overrides: CurlLoader.ConnectionOverrides = .init()
    ) {
        let evaluator: ServerTrust.Evaluator =
            switch trust {
            case .system: .system
            case .certificateFile(let path): .certificateFile(path)
            case .insecure: .disabledAndInsecure
            }
        self.init(evaluator, certificate)
        pins = overrides.pinnedKeys
        folder = overrides.authoritiesFolder
    }

    func apply(to easy: UnsafeMutableRawPointer) {
        switch authorities {
        case .system: if let folder { refrain_set_pointer(easy, CURLOPT_CAPATH, folder) }
        case .certificateFile(let path):
            refrain_set_pointer(easy, CURLOPT_CAINFO, path)
            refrain_set_pointer(easy, CURLOPT_CAPATH, folder)
        case .any:
            refrain_set_long(easy, CURLOPT_SSL_VERIFYPEER, 0)
            refrain_set_long(easy, CURLOPT_SSL_VERIFYHOST, 0)
        }
        if let pins { refrain_set_pointer(easy, CURLOPT_PINNEDPUBLICKEY, pins) }
        if let certificate { apply(certificate, to: easy) }
    }

    private func apply(_ certificate: CurlLoader.ClientCertificate, to easy: UnsafeMutableRawPointer) {
        refrain_set_pointer(easy, CURLOPT_SSLCERT, certificate.path)
        refrain_set_pointer(easy, CURLOPT_SSLCERTTYPE, certificate.format.rawValue)
        if let key = certificate.keyPath { refrain_set_pointer(easy, CURLOPT_SSLKEY, key) }
        // Always set: otherwise OpenSSL would read a password from the terminal.
        refrain_set_pointer(easy, CURLOPT_KEYPASSWD, certificate.password?.text ?? "")
    }
}
