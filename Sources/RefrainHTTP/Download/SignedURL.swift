/// URLs that a store of objects has signed: the signature and its time are in the query, and name no other object.
enum SignedURL {
    /// Parameters that carry a signature: Amazon's two, CloudFront's, Google's and Azure's.
    private static let signatures: Set<String> = ["x-amz-signature", "x-goog-signature", "signature", "sig"]
    /// What stands beside a signature, and says who may fetch the object and until when.
    private static let terms: Set<String> = [
        "x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-expires", "x-amz-security-token",
        "x-amz-signedheaders", "x-goog-algorithm", "x-goog-credential", "x-goog-date", "x-goog-expires",
        "x-goog-signedheaders", "awsaccesskeyid", "googleaccessid", "expires", "policy", "key-pair-id", "se", "sip",
        "ske", "skoid", "sks", "skt", "sktid", "skv", "sp", "spr", "sr", "st", "sv", "jwt",
    ]

    /// Whether two URLs without fragments are equal but for their signatures, which both of them have.
    static func areOfOneObject(_ one: String, _ other: String) -> Bool {
        guard let one = unsigned(one), let other = unsigned(other) else { return false }
        return one == other
    }

    /// The URL's part in front of the query, and the parameters that are no signature; nil where there is none.
    private static func unsigned(_ url: String) -> [Substring]? {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        var isSigned = false
        var parts = [url[..<mark]]
        for parameter in url[mark...].dropFirst().split(separator: "&", omittingEmptySubsequences: false) {
            let name = parameter.prefix { $0 != "=" }.lowercased()
            if signatures.contains(name) {
                isSigned = true
            } else if !terms.contains(name) {
                parts.append(parameter)
            }
        }
        return isSigned ? parts : nil
    }
}
