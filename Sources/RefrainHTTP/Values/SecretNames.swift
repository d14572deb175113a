// SPDX-License-Identifier: Apache-2.0
/// Which header fields and parameters have secrets as their values, told by the words in their names.
///
/// One rule for what does not cross origins (rule R26), and for what logs, reports and descriptions leave out. It hides
/// too much rather than too little: a field that is hidden in vain costs a look at the code, a key in a log costs the
/// account.
package enum SecretNames {
    /// Whether the value of a header field is a secret.
    package static func contains(field name: String) -> Bool {
        let name = name.lowercased()
        return !publicFields.contains(name) && (productFields.contains(name) || hasSecretWord(name))
    }

    /// Whether the value of a parameter of a query or a form is a secret.
    ///
    /// - Parameter name: the name as it is in the URL. Its percent escapes are decoded, also where they are written
    ///   for characters that need none.
    package static func contains(parameter name: some StringProtocol) -> Bool {
        let name = decoded(name)
        return parameters.contains(name.lowercased()) || hasSecretWord(name)
    }

    /// Whether a name is made of words for secrets: `X-Api-Key`, `accessToken`, `AWSAccessKeyId`, `sessionid`.
    private static func hasSecretWord(_ name: String) -> Bool {
        let words = words(of: name)
        let joined = Array(words.joined().utf8)
        return parts.contains { joined.contains($0) }
            || words.contains { word in
                Self.words.contains(word) || word.hasSuffix("key") && !namesThatEndInKey.contains(word)
                    || word.hasPrefix("auth") && (!word.hasPrefix("author") || word.hasPrefix("authoriz"))
            }
            // A number of tokens, as of a language model's quota.
            || joined.contains("token") && !joined.contains("tokens")
    }

    /// The words of a name in lower case: it is cut at everything but letters and digits, and before capitals.
    private static func words(of name: String) -> [String] {
        var words: [String] = []
        var word = ""
        var follows = false
        for scalar in name.unicodeScalars {
            guard scalar.isPartOfWord else {
                if !word.isEmpty { words.append(word) }
                (word, follows) = ("", false)
                continue
            }
            if scalar.isCapital, follows, !word.isEmpty {
                words.append(word)
                word = ""
            }
            scalar.addLowercase(to: &word)
            follows = scalar.isSmall
        }
        if !word.isEmpty { words.append(word) }
        return words
    }

    /// Parts of names that name a secret wherever they are.
    private static let parts =
        [
            "secret", "password", "passwd", "passphrase", "passcode", "signature", "credential", "apikey", "accesskey",
            "privatekey", "keyid", "oauth", "bearer", "jwt", "cookie", "session", "assertion", "clientcert",
        ] as [StaticString]

    /// Words that name a secret by themselves.
    private static let words: Set<String> = [
        "keys", "sig", "sign", "pwd", "pass", "sid", "otp", "pin", "hmac", "dpop", "ticket", "csrf", "xsrf", "nonce",
    ]

    private static let namesThatEndInKey: Set<String> = ["monkey", "donkey", "turkey", "hockey", "whiskey", "jockey"]

    /// Fields with secrets whose names do not tell it, from the documentation of common gateways and of servers that
    /// redirect to a store: Amazon's load balancers, Azure's App Service, Cloudflare Access, Envoy, nginx, OAuth2 Proxy
    /// and Artifactory.
    private static let productFields: Set<String> = [
        "x-amzn-oidc-data", "x-amzn-oidc-identity", "x-ms-client-principal", "x-ms-client-principal-id",
        "x-ms-client-principal-name", "cf-access-client-id", "x-forwarded-client-cert", "x-ssl-client-cert",
        "x-forwarded-user", "x-forwarded-email", "x-remote-user", "remote-user", "x-jfrog-art-api",
    ]

    /// Fields whose names have such a word and whose values are public: challenges, quotas, caches and CORS; and the
    /// most frequent ones, which are told by this look alone.
    private static let publicFields: Set<String> = [
        "accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-length",
        "content-type", "date", "etag", "host", "last-modified", "server", "user-agent", "vary",
        "www-authenticate", "proxy-authenticate", "sec-websocket-key", "surrogate-key", "cache-key", "public-key-pins",
        "accept-signature", "access-control-allow-credentials",
    ]

    /// Parameters with secrets whose names do not tell it: codes of OAuth, and shared access signatures.
    private static let parameters: Set<String> = ["code", "code_verifier", "sas"]

    /// A name without percent escapes; invalid ones are kept.
    package static func decoded(_ name: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

// Nearly all names are ASCII, whose properties are many times as slow to look up as to compare.
extension Unicode.Scalar {
    /// Whether this is a letter or a digit.
    fileprivate var isPartOfWord: Bool {
        guard !isASCII else { return isSmall || isCapital || ("0"..."9").contains(self) }
        return properties.isAlphabetic || properties.numericType != nil
    }

    fileprivate var isCapital: Bool { isASCII ? ("A"..."Z").contains(self) : properties.isUppercase }

    fileprivate var isSmall: Bool { isASCII ? ("a"..."z").contains(self) : properties.isLowercase }

    fileprivate func addLowercase(to word: inout String) {
        guard isASCII else { return word += properties.lowercaseMapping }
        word.unicodeScalars.append(isCapital ? Unicode.Scalar(UInt8(value) | 0x20) : self)
    }
}

extension HTTPHeaders {
    /// Whether the name of a field tells that its value is a secret, such as `Authorization` and `X-Api-Key`.
    ///
    /// Such a field is not sent to another origin (rule R26), and logs and descriptions omit its value. For a single
    /// request ``HTTPRequest/secretHeaders`` adds names.
    public static func isSecret(_ name: String) -> Bool { SecretNames.contains(field: name) }
}

extension URLText {
    /// What stands for a value that is not shown.
    package static let hiddenValue = "***"

    /// A query without the values that are hidden; the rest is unchanged.
    package static func query(
        _ query: some StringProtocol,
        hiding isHidden: (Substring) -> Bool = { SecretNames.contains(parameter: $0) }
    ) -> String {
        String(query).split(separator: "&", omittingEmptySubsequences: false).map { pair in
            let name = pair.prefix { $0 != "=" }
            guard name.endIndex < pair.endIndex, isHidden(name) else { return String(pair) }
            return "\(name)=\(hiddenValue)"
        }.joined(separator: "&")
    }
}

extension [UInt8] {
    /// Whether a text is somewhere in these bytes.
    fileprivate func contains(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            indices.contains { self[$0...].starts(with: text) }
        }
    }
}
