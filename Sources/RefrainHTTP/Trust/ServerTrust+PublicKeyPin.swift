#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension ServerTrust {
    /// The SHA-256 hash of a public key's SubjectPublicKeyInfo (RFC 7469 §2.4).
    public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
        /// The 32 bytes of the hash.
        public let sha256: [UInt8]

        /// Parses a pin in curl's format: `sha256//` and 44 characters of Base64.
        ///
        /// - Throws: `InvalidArgument` for any other text.
        @_optimize(none)
        public init(_ text: String) throws(InvalidArgument) {
            let prefix = "sha256//"
            guard text.hasPrefix(prefix), let hash = Data(base64Encoded: String(text.dropFirst(prefix.count))),
                hash.count == 32
            else {
                throw InvalidArgument("pin", is: text, expected: "sha256// and the Base64 of 32 bytes")
            }
            sha256 = Array(hash)
        }

        /// The pin in curl's format.
        public var description: String { "sha256//" + Data(sha256).base64EncodedString() }
    }
}
