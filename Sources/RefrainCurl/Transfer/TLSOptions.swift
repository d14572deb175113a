internal import CurlShim
internal import RefrainHTTP

/// What a handle asks of servers over TLS; it is set once in a handle's life.
struct TLSOptions: Hashable {
    private let authorities: ServerTrust.Evaluator.Authorities
    /// The keys as libcurl wants them; nil for any.
    let pins: String?

    init(_ evaluator: ServerTrust.Evaluator) {
        authorities = evaluator.authorities
        pins = evaluator.pins.isEmpty ? nil : evaluator.pins.map(\.description).joined(separator: ";")
    }

    init(_ trust: CurlLoader.Trust) {
        switch trust {
        case .system: self.init(ServerTrust.Evaluator.system)
        case .certificateFile(let path): self.init(ServerTrust.Evaluator.certificateFile(path))
        case .insecure: self.init(ServerTrust.Evaluator.disabledAndInsecure)
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
    }
}
