#if canImport(Security)
internal import CryptoKit
internal import Foundation
internal import RefrainHTTP
internal import Security

/// Evaluates a server against a `ServerTrust`.
enum ServerTrustEvaluator {
    /// Why the server is not trusted; nil if it is.
    static func objection(
        to trust: SecTrust,
        host: String,
        by evaluator: ServerTrust.Evaluator
    ) -> String? {
        switch evaluator.authorities {
        case .nobody:
            break
        case .certificateFile(let path):
            guard let anchors = certificates(inFile: path) else { return "\(path) holds no certificate (PEM)" }
            SecTrustSetAnchorCertificates(trust, anchors as CFArray)
            SecTrustSetAnchorCertificatesOnly(trust, true)
            fallthrough
        case .system:
            SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, host as CFString))
            var error: CFError?
            guard SecTrustEvaluateWithError(trust, &error) else {
                return error.map { CFErrorCopyDescription($0) as String } ?? "the certificate is not trusted"
            }
        }
        guard !evaluator.pins.isEmpty else { return nil }
        guard let shown = shownPin(trust) else { return "the server's public key is of a kind that cannot be pinned" }
        guard !evaluator.pins.contains(where: { $0.description == shown }) else { return nil }
        return "the server's public key is none of those that are pinned for its host; it is \(shown), to be pinned "
            + "only if you know from elsewhere that it is the server's"
    }

    /// The pin of the server's key.
    private static func shownPin(_ trust: SecTrust) -> String? {
        guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], let leaf = chain.first,
            let key = SecCertificateCopyKey(leaf),
            let attributes = SecKeyCopyAttributes(key) as? [CFString: Any],
            let type = attributes[kSecAttrKeyType] as? String,
            let bytes = SecKeyCopyExternalRepresentation(key, nil) as Data?
        else { return nil }
        let isRSA = type == kSecAttrKeyTypeRSA as String
        let info = isRSA ? SubjectPublicKeyInfo.rsa(Array(bytes)) : SubjectPublicKeyInfo.ellipticCurve(Array(bytes))
        return info.map { "sha256//" + Data(SHA256.hash(data: Data($0))).base64EncodedString() }
    }

    /// The certificates of a PEM file, or nil if it contains none.
    private static func certificates(inFile path: String) -> [SecCertificate]? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let certificates = text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst()
            .compactMap { part -> SecCertificate? in
                let body = part.components(separatedBy: "-----END CERTIFICATE-----")[0]
                guard let data = Data(base64Encoded: body, options: .ignoreUnknownCharacters) else { return nil }
                return SecCertificateCreateWithData(nil, data as CFData)
            }
        return certificates.isEmpty ? nil : certificates
    }
}
#endif
