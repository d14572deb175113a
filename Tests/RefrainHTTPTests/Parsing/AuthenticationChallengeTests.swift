// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import TestSupport
import Testing

@Suite("Authentication challenges", .computing)
struct AuthenticationChallengeTests {
    /// Challenges as text, `scheme token68 name=value …`, parted by bars.
    static func parse(_ values: String...) -> String {
        AuthenticationChallenge.parse(fieldValues: values)
            .map { challenge in
                let parameters = challenge.parameters.map { "\($0.name)=\($0.value)" }
                return ([challenge.scheme] + (challenge.token68.map { [$0] } ?? []) + parameters)
                    .joined(separator: " ")
            }
            .joined(separator: "|")
    }

    @Test(
        "R27: challenges are parted from each other and from their parameters",
        arguments: [
            ("Basic realm=\"simple\"", "basic realm=simple"),
            (
                "Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"",
                "basic realm=simple|newauth realm=apps type=1 title=Login to \"apps\""
            ),
            ("Bearer", "bearer"), ("Negotiate, Basic realm=x", "negotiate|basic realm=x"),
            ("Negotiate YWJj==, Basic Realm = x", "negotiate YWJj==|basic realm=x"),
            ("Negotiate a=", "negotiate a="), ("Scheme a=b", "scheme a=b"), ("Scheme a==", "scheme a=="),
            ("Bearer realm=\"a, b=c\" ,\terror=\"invalid_token\"", "bearer realm=a, b=c error=invalid_token"),
            (", ,Basic , ,a=b,, Digest,", "basic a=b|digest"), ("Basic ", "basic"), ("", ""), (",", ""),
        ]
    )
    func challenges(text: String, expected: String) {
        #expect(Self.parse(text) == expected)
    }

    @Test(
        "R27: a malformed line counts up to what is malformed, and the other lines count",
        arguments: [
            ("=", ""), ("a=b", ""), ("Basic\"x\"", ""), ("Bäsic", ""), ("Basic/x", ""), ("Basic \0", "basic"),
            ("Basic realm=\"x", "basic"), ("Basic realm=\"x\\", "basic"), ("Basic realm=\"\n\"", "basic"),
            ("Basic a b", "basic"), ("Basic a=b, realm=", "basic a=b"), ("Basic a=b c=d", "basic a=b"),
            ("Basic realm=\"x\"y", "basic realm=x"), ("Negotiate abc, d=e", "negotiate abc"),
            ("Basic realm=My Site", "basic realm=My"), ("Digest realm=\"x\" nonce=\"y\"", "digest realm=x"),
            ("Negotiate, Digest realm=My Site, Basic realm=x", "negotiate|digest realm=My"),
        ]
    )
    func malformed(text: String, expected: String) {
        #expect(Self.parse(text) == expected)
        let all = ["digest", expected, "bearer"].filter { !$0.isEmpty }
        #expect(Self.parse("Digest", text, "Bearer") == all.joined(separator: "|"))
    }

    @Test("R27: 1 MB of challenges takes linear time")
    func megabyte() {
        let count = 250_000
        func parse(_ text: String) -> Int { AuthenticationChallenge.parse(fieldValues: [text]).count }
        #expect(parse(String(repeating: "a b,", count: count)) == count)
        #expect(parse("a " + String(repeating: "b=c,", count: count)) == 1)
        #expect(parse("a " + String(repeating: "b", count: 1_000_000) + "=") == 1)
    }
}
