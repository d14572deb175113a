// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Names of hosts")
struct HostNameTests {
    @Test("R26: two spellings of a host are one origin, and another host is another one")
    func origins() throws {
        let groups = [
            ["https://bücher.example/", "https://b%c3%bccher.example/", "https://xn--bcher-kva.example:443"],
            ["https://example.com", "https://ex%61mple.com/", "HTTPS://u:p@EXAMPLE.COM/"],
            ["https://faß.example/", "https://xn--fa-hia.example/"], ["https://fass.example/"],
            ["https://a.example/"], ["https://a.example./"], ["https://[::1]/"], ["https://a_b.example"],
        ]
        var seen: Set<Origin> = []
        for group in groups {
            let origins = try Set(group.map { try #require(HTTPRequest($0).origin) })
            #expect(origins.count == 1, "\(group)")
            #expect(seen.isDisjoint(with: origins), "\(group)")
            seen.formUnion(origins)
        }
    }

    @Test("R22: a host has one budget, however it is spelled")
    func budgets() throws {
        let budgets = Retry.Budgets()
        let unicode = try HTTPRequest("https://bücher.example/").url
        let encoded = try HTTPRequest("https://xn--bcher-kva.example/x").url
        #expect(budgets.budget(for: unicode) != nil)
        #expect(budgets.budget(for: unicode) === budgets.budget(for: encoded))
    }

    @Test("Names of other scripts are encoded as RFC 3492 and IDNA 2008 say")
    func encoding() {
        for (name, encoded) in [
            ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.Example", "xn--bcher-kva.example"),
            ("faß.de", "xn--fa-hia.de"), ("münchen-ost.de", "xn--mnchen-ost-9db.de"), ("ü", "xn--tda"),
            ("他们为什么不说中文.cn", "xn--ihqwcrb4cv8a8dqg056pqjye.cn"), ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
            ("почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("מקור。example", "xn--9dbr1af.example"), ("☃.net", "xn--n3h.net"), ("a.b-1.c_d", "a.b-1.c_d"),
        ] {
            #expect(HostName.ascii(name) == encoded, "\(name)")
        }
    }

    @Test(
        "R31: what is no host, or is one only after a mapping that is not at hand, is refused",
        arguments: [
            "a/b", "a b", "a\u{0}b", "a%62", "a:b", "a@b", "ａ.example", "a\u{AD}ü", "u\u{308}.example", "ü\u{FEFF}",
            "ü\u{2028}", "xn--tešla", "XN--tešla.example", "a.\u{FFFD}", String(repeating: "ü", count: 64),
            String(repeating: "ü", count: 100_000),
        ]
    )
    func refusals(name: String) {
        #expect(HostName.ascii(name) == nil)
    }

    @Test("R31: a host that cannot be sent is refused, with its reason, as text or URL", arguments: ["a%2Fb", "%00"])
    func badHosts(host: String) throws {
        let error = #expect(throws: HTTPError.self) { try HTTPRequest("https://\(host)/") }
        #expect(error?.code == .badURL)
        #expect(error?.message?.contains("names a host that is invalid in DNS") == true)
        let url = try #require(URL(string: "https://\(host)/"))
        let invalid = #expect(throws: HTTPError.self) { try HTTPRequest(url).validated() }
        #expect(invalid?.code == .badURL)
        #expect(invalid?.message?.contains("host") == true)
    }

    @Test("A transport sends the host of the origin, and leaves the rest of the URL as it is")
    func sentText() throws {
        for (text, sent) in [
            ("https://b%C3%BCcher.example:444/b%C3%BC?q#f", "https://xn--bcher-kva.example:444/b%C3%BC?q#f"),
            ("https://u:p@ex%61mple.com?a@b", "https://u:p@example.com?a@b"),
            ("https://u@EXAMPLE.com/", "https://u@EXAMPLE.com/"), ("https://[::1]:8/x@y", "https://[::1]:8/x@y"),
            ("https://example.com", "https://example.com"), ("/relative", "/relative"),
        ] {
            let url = try #require(URL(string: text))
            #expect(URLText.sent(url) == sent)
        }
    }
}
