// SPDX-License-Identifier: Apache-2.0
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
        case .any:
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

/// A public key with its algorithm in DER, the input of a pin's hash (RFC 5280 §4.1.2.7).
///
/// The Security framework returns the key alone: PKCS #1 for RSA, the point for elliptic curves.
enum SubjectPublicKeyInfo {
    /// An RSA key (RFC 3279 §2.3.1), from its PKCS #1 form.
    static func rsa(_ key: [UInt8]) -> [UInt8] {
        // rsaEncryption without parameters.
        let algorithm: [UInt8] = [
            0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
        ]
        return wrap(algorithm, key)
    }

    /// An elliptic-curve key (RFC 5480), from its uncompressed point; nil for curves other than NIST's.
    static func ellipticCurve(_ point: [UInt8]) -> [UInt8]? {
        let curve: [UInt8]
        switch point.count {
        case 65: curve = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        case 97: curve = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
        case 133: curve = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
        default: return nil
        }
        // id-ecPublicKey and the curve.
        return wrap([0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01] + curve, point)
    }

    private static func wrap(_ algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] {
        element(0x30, element(0x30, algorithm) + element(0x03, [0] + key))
    }

    private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        let count = contents.count
        let length: [UInt8] =
            switch count {
            case ..<0x80: [UInt8(count)]
            case ..<0x100: [0x81, UInt8(count)]
            default: [0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
            }
        return [tag] + length + contents
    }
}
