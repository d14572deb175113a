internal import Refrain

/// The digest fields of HTTP (RFC 9530).
enum DigestFields {
    /// The request for a digest of the whole content, whichever part of it is sent (§4).
    static let wanted = (name: "Want-Repr-Digest", value: "sha-256=10, sha-512=5")

    /// The digests that a response gives for the content as it is stored.
    ///
    /// `Repr-Digest` is of the whole, also on a part (§3); `Content-Digest` is of what this message brings (§2). Both
    /// are of the coded form, so they say nothing of a content whose coding was undone. What is malformed, or of
    /// another function, is ignored.
    static func digests(_ response: HTTPResponse) -> [ContentDigest] {
        guard !response.headers.contains("Content-Encoding") else { return [] }
        let digests = digests(response, "Repr-Digest")
        // Of a content that came in several answers the last one brought a part.
        return digests.isEmpty && response.status == .ok ? self.digests(response, "Content-Digest") : digests
    }

    private static func digests(_ response: HTTPResponse, _ name: String) -> [ContentDigest] {
        // Most responses have none.
        guard response.headers.contains(name) else { return [] }
        guard let members = StructuredField.dictionary(fieldValues: response.headers[values: name]) else { return [] }
        return ContentDigest.Algorithm.allCases.compactMap { algorithm in
            guard case .item(let item)? = members[algorithm.rawValue], case .bytes(let bytes) = item.value,
                bytes.count == algorithm.length
            else { return nil }
            return ContentDigest(algorithm, bytes, source: "the server's \(name)")
        }
    }
}
