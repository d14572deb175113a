internal import CurlShim
internal import RefrainHTTP

/// What a handle asks of servers over TLS, and shows them; it is set once in a handle's life.
struct TLSOptions: Hashable {
    private let authorities: ServerTrust.Evaluator.Authorities
    /// The keys as libcurl wants them; nil for any.
    let pins: String?
    private let certificate: CurlLoader.ClientCertificate?

    init(_ evaluator: ServerTrust.Evaluator, _ certificate: CurlLoader.ClientCertificate? = nil) {
        self.certificate = certificate
        authorities = evaluator.authorities
        pins = evaluator.pins.isEmpty ? nil : evaluator.pins.map(\.description).joined(separator: ";")
    }

    init(
        _ trust: CurlLoader.Trust,
        _ certificate: CurlLoader.ClientCertificate? = nil,
        pins: String? = nil
    ) {
        self.certificate = certificate
        self.pins = pins
        authorities =
            switch trust {
            case .system: .system
            case .certificateFile(let path): .certificateFile(path)
            case .insecure: .nobody
            }
    }

    func apply(to easy: UnsafeMutableRawPointer) {
        switch authorities {
        case .system: break
        case .certificateFile(let path):
            refrain_set_pointer(easy, CURLOPT_CAINFO, path)
            refrain_set_pointer(easy, CURLOPT_CAPATH, nil)
        case .nobody:
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
        // Always: without one OpenSSL would wait for a password from the terminal.
        refrain_set_pointer(easy, CURLOPT_KEYPASSWD, certificate.password?.text ?? "")
    }
}
