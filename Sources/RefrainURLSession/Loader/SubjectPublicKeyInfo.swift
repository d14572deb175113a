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
