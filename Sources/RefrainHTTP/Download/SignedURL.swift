// SPDX-License-Identifier: Apache-2.0
/// URLs that a store of objects has signed: the signature and its terms are in the query, and name no other object.
package enum SignedURL {
    /// Parameters that carry a signature: of Amazon, CloudFront, Google, Azure, Alibaba, Tencent and Akamai.
    private static let signatures: Set<String> = [
        "x-amz-signature", "x-goog-signature", "x-oss-signature", "signature", "sig", "q-signature", "hdnts", "hdnea",
        "__token__", "__gda__",
    ]
    /// Parameters beside a signature: who may fetch the object, and until when.
    private static let terms: Set<String> = [
        "awsaccesskeyid", "googleaccessid", "ossaccesskeyid", "security-token", "expires", "policy", "key-pair-id",
        "se", "sip", "ske", "skoid", "sks", "skt", "sktid", "skv", "sp", "spr", "sr", "st", "sv", "jwt",
        "q-sign-algorithm", "q-ak", "q-sign-time", "q-key-time", "q-header-list", "q-url-param-list",
    ]
    /// The beginnings of further such parameters.
    private static let prefixes = ["x-amz-", "x-goog-", "x-oss-"]

    /// Whether two URLs differ in their signatures alone, which both of them have, or in parameters of no meaning.
    ///
    /// - Parameter names: the parameters of no meaning, in lower case.
    package static func areOfOneObject(_ one: String, _ other: String, ignoring names: Set<String> = []) -> Bool {
        if one == other { return true }
        let (one, other) = (parts(of: one, names), parts(of: other, names))
        return one.isSigned == other.isSigned && one.text == other.text
    }

    /// A URL without its signature, its fragment and parameters of no meaning: it names the object for longer.
    ///
    /// - Parameter names: the parameters of no meaning, in lower case.
    package static func withoutSignature(_ url: String, ignoring names: Set<String> = []) -> String {
        url.utf8.contains(UInt8(ascii: "?")) ? parts(of: url, names).text : url
    }

    private static func parts(of url: String, _ names: Set<String>) -> (text: String, isSigned: Bool) {
        let plain = url.utf8.firstIndex(of: UInt8(ascii: "#")).map { url[..<$0] } ?? url[...]
        guard let mark = plain.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (String(plain), false) }
        let query = plain.utf8[mark...].dropFirst()
        let parameters = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            .map { (name: Substring($0.prefix { $0 != UInt8(ascii: "=") }).lowercased(), text: Substring($0)) }
        let isSigned = parameters.contains { signatures.contains($0.name) && !names.contains($0.name) }
        let rest = parameters.filter { parameter in
            let isTerm =
                signatures.contains(parameter.name) || terms.contains(parameter.name)
                || prefixes.contains { parameter.name.hasPrefix($0) }
            return !names.contains(parameter.name) && !(isSigned && isTerm)
        }
        let kept = rest.map(\.text).joined(separator: "&")
        return (rest.isEmpty ? String(plain[..<mark]) : "\(plain[..<mark])?\(kept)", isSigned)
    }
}

private enum IgnoredQueryOption: HTTPRequestOption {
    static let defaultValue: Set<String> = []
}

extension HTTPRequest {
    /// Parameters of the query that name no other object, such as a token, in lower case.
    ///
    /// Defaults to none.
    ///
    /// A ``Download`` with a strong entity tag goes on at a URL that differs in these parameters alone. The signatures
    /// of the common object stores are known.
    public var ignoredQueryParameters: Set<String> {
        get { self[option: IgnoredQueryOption.self] }
        set { self[option: IgnoredQueryOption.self] = newValue }
    }
}
