// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@testable import RefrainHTTP

@Suite("Secrets by their names")
struct SecretNamesTests {
    static let secretFields = [
        "Authorization", "cookie", "Set-Cookie", "X-API-Key", "apikey", "X-Auth-Token", "X-Amz-Security-Token",
        "X-Shopify-Access-Token", "PRIVATE-TOKEN", "X-Vault-Token", "Ocp-Apim-Subscription-Key", "X-Functions-Key",
        "X-Hub-Signature-256", "Stripe-Signature", "CF-Access-Client-Secret", "CF-Access-Client-Id",
        "Cf-Access-Jwt-Assertion", "x-amzn-oidc-data", "X-MS-CLIENT-PRINCIPAL", "DPoP", "X-CSRF-Token", "X-Session-Id",
        "JSESSIONID", "X-Password", "X-User-Pwd", "DD-APPLICATION-KEY", "X-RapidAPI-Key", "npm-otp", "X-XSRF",
        "X-Authentication", "Idempotency-Key", "X-Forwarded-Client-Cert", "X-Secret", "api_key", "X-AccessToken",
        "X-JFrog-Art-Api",
    ]
    static let publicFields = [
        "Accept", "Content-Type", "ETag", "Author", "X-Authority", "WWW-Authenticate", "Proxy-Authenticate",
        "X-Request-Id",
        "Keep-Alive", "X-RateLimit-Remaining-Tokens", "X-Monkey", "Cache-Control", "Location", "User-Agent", "Range",
        "X-Keyboard", "Surrogate-Key", "Date", "X-Passenger", "X-Design", "Last-Event-ID", "X-Compass",
    ]

    @Test("a field is a secret by its words, or by its product", arguments: secretFields)
    func secret(field: String) { #expect(SecretNames.contains(field: field)) }

    @Test("a field without such a word is not", arguments: publicFields)
    func isPublic(field: String) { #expect(!SecretNames.contains(field: field)) }

    @Test(
        "so is a parameter, however its name is escaped",
        arguments: [
            "token", "access_token", "%74oken", "%74%6F%6b%65%6E", "X-Amz-Signature", "X-Amz-Credential", "sig", "key",
            "AWSAccessKeyId", "Signature", "X-Goog-Signature", "apiKey", "refreshToken", "client_secret", "code", "pwd",
        ]
    )
    func secret(parameter: String) { #expect(SecretNames.contains(parameter: parameter)) }

    @Test("and these are not", arguments: ["page", "q", "max_tokens", "keyword", "author", "limit", "a%zz", "design"])
    func isPublic(parameter: String) { #expect(!SecretNames.contains(parameter: parameter)) }

    @Test("a URL is described without its secrets, and otherwise unchanged")
    func descriptions() throws {
        let request = try HTTPRequest("https://u:s3cret@api.example.com/a?q=1&%74oken=s3cret&&sig=s3cret&x#f")
        #expect("\(request)" == "GET https://api.example.com/a?q=1&%74oken=***&&sig=***&x#f")
        let error = HTTPError(.timedOut, request: request, message: "the server said \u{1B}[2Jboo")
        #expect(!"\(error)".contains("s3cret") && !"\(error)".contains("\u{1B}"))
        let plain = try HTTPRequest("https://api.example.com/a?b=%20c&d")
        #expect("\(plain)" == "GET https://api.example.com/a?b=%20c&d")
    }

    @Test("R26: a redirect to another origin takes every field that is a secret, and none that is not")
    func redirects() async throws {
        let mock = MockLoader().then(.status(302, headers: ["Location": "https://other.example/"])).then(.status(200))
        var headers = HTTPHeaders()
        for name in Self.secretFields + Self.publicFields { headers.add(name, "1") }
        _ = await (Redirect() --> mock).load(try HTTPRequest("https://api.example.com/", headers: headers))
        let sent = try #require(mock.requests.last)
        #expect(sent.headers.map(\.name).sorted() == Self.publicFields.sorted())
    }

    @Test("R26: a stage behind the redirect does not bring one back, whatever its name is")
    func addedAgain() async throws {
        let mock = MockLoader().then(.status(307, headers: ["Location": "https://other.example/"])).then(.status(200))
        let adding = ModifyRequest { request in
            var request = request
            request.headers["X-Shop-Key"] = "s3cret"
            return request.withoutDroppedHeaders()
        }
        _ = await (Redirect() --> adding --> mock).load(try HTTPRequest("https://api.example.com/"))
        #expect(mock.requests.map { $0.headers["X-Shop-Key"] } == ["s3cret", nil])
    }
}
