// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("Cookies: which are kept, and where they are sent", .computing)
struct CookieTests {
    private let jar = CookieJar(
        clocks: RetryClocks(monotonic: AnyClock(TestClock())) { WallClock.Instant(sinceEpoch: .seconds(1_000_000)) }
    )

    private func url(_ text: String) -> URL { URL(string: text) ?? URL(filePath: "/") }

    private func set(_ field: String, _ source: String = "https://www.example.com/a/b") {
        jar.insert(setCookie: [field], from: url(source))
    }

    private func sent(_ target: String) -> String? { jar.field(for: url(target)) }

    @Test("without Domain a cookie is for its host alone, and for its folder")
    func hostOnly() {
        set("n=v")
        #expect(sent("https://www.example.com/a/c") == "n=v")
        #expect(sent("http://www.example.com:8080/a") == "n=v")
        #expect(sent("https://WWW.EXAMPLE.COM/a/") == "n=v")
        #expect(sent("https://www.example.com/ab") == nil)
        #expect(sent("https://www.example.com/") == nil)
        #expect(sent("https://example.com/a/c") == nil)
        #expect(sent("https://x.www.example.com/a/c") == nil)
    }

    @Test("Domain covers what is below it, and must cover the host that sets it")
    func domain() {
        set("n=v; Domain=.Example.COM; Path=/")
        #expect(sent("https://example.com/") == "n=v")
        #expect(sent("https://a.b.example.com/") == "n=v")
        #expect(sent("https://badexample.com/") == nil)
        set("x=y; Domain=other.com")
        set("x=y; Domain=a.www.example.com")
        #expect(jar.cookies.map(\.name) == ["n"])
    }

    @Test("a name in Unicode is the name that servers know, in the URL as in Domain")
    func internationalizedName() {
        let url = "https://b\u{FC}cher.example/"
        set("host=1", url)
        set("domain=2; Domain=xn--bcher-kva.example", url)
        set("unicode=3; Domain=b\u{FC}cher.example", url)
        for address in [url, "https://xn--bcher-kva.example/", "https://B\u{DC}CHER.example/"] {
            #expect(sent(address) == "host=1; domain=2; unicode=3")
        }
    }

    @Test("an address has nothing below it")
    func address() {
        set("n=v; Domain=0.0.1", "http://127.0.0.1/")
        #expect(jar.cookies.isEmpty)
        set("n=v; Domain=127.0.0.1", "http://127.0.0.1/")
        #expect(sent("http://127.0.0.1/") == "n=v")
        #expect(jar.cookies.map(\.includesSubdomains) == [false])
    }

    @Test(
        "a cookie for a public suffix is refused, and for a host of that name it is the host's own",
        arguments: ["com", "co.uk", "github.io", "localhost", "com.", "co.uk."]
    )
    func publicSuffix(_ suffix: String) {
        set("n=v; Domain=\(suffix)", "https://a.\(suffix)/")
        #expect(jar.cookies.isEmpty)
        set("n=v; Domain=\(suffix)", "https://\(suffix)/")
        #expect(sent("https://\(suffix)/") == "n=v")
        #expect(sent("https://a.\(suffix)/") == nil)
    }

    @Test(
        "the list of public suffixes knows what no short rule does",
        .enabled(if: PublicSuffix.hasList),
        arguments: [
            ("co.uk", true), ("gov.uk", true), ("example.co.uk", false), ("id.me", false), ("kawasaki.jp", true),
            ("any.kawasaki.jp", true), ("city.kawasaki.jp", false), ("s3.amazonaws.com", true),
            ("amazonaws.com", false),
            ("altervista.org", true), ("blogspot.com", true), ("dyndns.org", true), ("pvt.k12.ma.us", true),
            ("xn--fiqs8s", true), ("xn--55qx5d.cn", true), ("example.com", false), ("nosuchtopleveldomain", true),
        ]
    )
    func list(domain: String, isSuffix: Bool) { #expect(PublicSuffix.contains(domain) == isSuffix) }

    @Test(
        "where there is no list, single labels, second levels and hosters are refused",
        arguments: [
            ("com", true), ("co.uk", true), ("github.io", true), ("example.com", false), ("a.github.io", false),
        ]
    )
    func rule(domain: String, isSuffix: Bool) { #expect(PublicSuffix.isUsual(domain) == isSuffix) }

    @Test("a secure cookie needs TLS or this machine, both to be set and to be sent")
    func secure() {
        set("n=v; Secure; Path=/", "http://www.example.com/")
        #expect(jar.cookies.isEmpty)
        set("n=v; Secure; Path=/")
        #expect(sent("http://www.example.com/") == nil)
        #expect(sent("https://www.example.com/") == "n=v")
        set("n=forged; Path=/", "http://www.example.com/")
        #expect(sent("https://www.example.com/") == "n=v")
        set("l=1; Secure", "http://localhost/")
        #expect(sent("http://localhost/") == "l=1")
    }

    @Test(
        "no cookie of a response without TLS is sent beside a secure one of its name",
        arguments: [
            ("n=v; Secure; Path=/", "n=forged; Path=/; Domain=example.com", false),
            ("n=v; Secure; Path=/; Domain=example.com", "n=forged; Path=/", false),
            ("n=v; Secure; Path=/a", "n=forged; Path=/a/b", false),
            ("n=v; Secure; Path=/a", "n=other; Path=/", true),
            ("n=v; Secure; Path=/a", "n=other; Path=/ab", true),
            ("n=v; Secure; Path=/", "m=other; Path=/; Domain=example.com", true),
            ("n=v; Path=/", "n=other; Path=/; Domain=example.com", true),
        ]
    )
    func besideSecure(_ secure: String, _ plain: String, isKept: Bool) {
        set(secure)
        set(plain, "http://www.example.com/")
        #expect(jar.cookies.count == (isKept ? 2 : 1))
        #expect(jar.cookies.first?.value == "v")
    }

    @Test("a cookie of another host of the domain does not stand in the way of one without TLS")
    func besideSecureElsewhere() {
        set("n=v; Secure; Path=/", "https://a.example.com/")
        set("n=other; Path=/", "http://b.example.com/")
        set("n=other; Path=/", "http://xa.example.com/")
        #expect(jar.cookies.count == 3)
    }

    @Test(
        "the prefixes of names hold",
        arguments: [
            ("__Host-a=1; Secure; Path=/", true), ("__Host-a=1; Secure; Path=/a", false),
            ("__Host-a=1; Secure; Path=/; Domain=example.com", false), ("__Host-a=1; Path=/", false),
            ("__Host-a=1; Secure", false), ("__Secure-a=1; Secure", true), ("__Secure-a=1", false),
        ]
    )
    func prefixes(_ field: String, isKept: Bool) {
        set(field, "https://www.example.com/")
        #expect(jar.cookies.isEmpty != isKept)
    }

    @Test(
        "Max-Age counts from now and goes before Expires; without either a cookie stays as long as the jar",
        arguments: [
            ("n=v", nil), ("n=v; Max-Age=10", 1_000_010),
            ("n=v; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:01 GMT", 1_000_010),
            ("n=v; Max-Age=ten", nil), ("n=v; Max-Age=+5", nil),
            ("n=v; Max-Age=99999999999999999999999", 253_403_300_799),
            ("n=v; expires=Wed, 21-Jan-1970 00:00:00 GMT", 1_728_000),
            ("n=v; Expires=Wed Jan 21 00:00:00 1970", 1_728_000),
            ("n=v; Expires=21 jan 70 00:00:00", 1_728_000), ("n=v; Expires=never", nil),
            ("n=v; Expires=21 Jan 1970 00:00:00.5:9 GMT", 1_728_000), ("n=v; Expires=21 Jan 1970 0:0:0x", 1_728_000),
            ("n=v; Expires=21 Jan 1970 0x:00:00", nil), ("n=v; Expires=21 Jan 1970 00:0x:00", nil),
        ] as [(String, Int64?)]
    )
    func expiry(_ field: String, seconds: Int64?) {
        set(field)
        #expect(jar.cookies.map { $0.expires?.sinceEpoch } == [seconds.map { .seconds($0) }])
    }

    @Test(
        "an expired cookie removes the one it replaces",
        arguments: ["Max-Age=0", "Max-Age=-1", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"]
    )
    func removal(_ attribute: String) {
        set("n=v")
        set("n=; \(attribute)")
        #expect(jar.cookies.isEmpty)
    }

    @Test("longer paths are sent first, then older cookies; a replaced one keeps its place")
    func order() {
        set("a=1; Path=/")
        set("b=2; Path=/a")
        set("c=3; Path=/")
        set("a=4; Path=/")
        #expect(sent("https://www.example.com/a/b") == "b=2; a=4; c=3")
    }

    @Test("a name that begins with a combining mark is sent and stored without the space before it")
    func combiningMark() {
        set(" \u{36A}n=v;\u{36A}x; Path=/")
        #expect(sent("https://www.example.com/") == "\u{36A}n=v")
        #expect(CookieJar(netscape: jar.netscapeText).cookies.map(\.name) == ["\u{36A}n"])
    }

    @Test("a value with a line break that only Unicode knows is stored in one line")
    func unicodeLineBreak() {
        set("n=a\u{2028}b\u{85}c; Path=/")
        #expect(CookieJar(netscape: jar.netscapeText).cookies.map(\.value) == ["a\u{2028}b\u{85}c"])
    }

    @Test("what would break a field or a file is refused, and so is what is too long")
    func malformed() {
        for field in ["", "=v", "novalue", "n=a\u{1}b", "n=a\tb", "n=\(String(repeating: "x", count: 5000))", ";n=v"] {
            set(field)
        }
        #expect(jar.cookies.isEmpty)
        set("n=v; Path=relative; Domain=; Unknown=1;;=;")
        #expect(jar.cookies.map(\.path) == ["/a"])
        jar.removeAll()
        set("\tn\t=\tv\t \t;\tPath\t=\t/b\t;\tx")
        #expect(jar.cookies.map { "\($0.name)=\($0.value) \($0.path)" } == ["n=v /b"])
        set("m=1; Path=/a\tb")
        #expect(jar.cookies.count == 1)
        // Of an attribute, more than 1024 bytes do not count.
        set("p=1; Path=/\(String(repeating: "x", count: 1024))")
        set("q=1; Path=/\(String(repeating: "x", count: 1023))")
        #expect(jar.cookies.dropFirst().map(\.path.utf8.count) == [2, 1024])
    }

    @Test("a cookie of the caller's may have a dot before its domain, and no control character")
    func made() {
        jar.insert(CookieJar.Cookie(name: "a", value: "1", domain: ".Example.com"))
        jar.insert(CookieJar.Cookie(name: "b", value: "2\nc\t3", domain: "example.com"))
        jar.insert(CookieJar.Cookie(name: "d", value: "4", domain: "example.com", path: "/\u{7F}"))
        #expect(sent("https://www.example.com/") == "a=1" && jar.cookies.count == 1)
        let copy = CookieJar(netscape: jar.netscapeText)
        #expect(copy.cookies == jar.cookies)
    }

    @Test("a server fills the jar up to the limits, and no further")
    func limits() {
        for index in 0..<200 { set("n\(index)=v") }
        #expect(jar.cookies.count == 180)
        #expect(jar.cookies.first?.name == "n20")
        for index in 0..<3000 { set("n=v", "https://h\(index).example.com/") }
        #expect(jar.cookies.count == 3000)
    }

    @Test("cookies that have expired make room first, so that a session lives through many short-lived ones")
    func expiredFirst() {
        let seconds = Locked<Int64>(1_000_000)
        let clocks = RetryClocks(monotonic: AnyClock(TestClock())) {
            WallClock.Instant(sinceEpoch: .seconds(seconds.withLock { $0 }))
        }
        let jar = CookieJar(clocks: clocks)
        let source = url("https://www.example.com/")
        jar.insert(setCookie: ["session=s"], from: source)
        for index in 0..<500 {
            jar.insert(setCookie: ["n\(index)=v; Max-Age=60"], from: source)
            seconds.withLock { $0 += 1 }
        }
        #expect(jar.cookies.first?.name == "session" && jar.cookies.count == 60)
    }

    @Test("R26: what another host answers at the end of a redirect is that host's cookie, wherever the jar stands")
    func redirected() async throws {
        let mock = MockLoader()
            .then(.status(302, headers: ["Location": "https://other.example/"]))
            .then(.status(200, headers: ["Set-Cookie": "s=evil"])).then(.status(200))
        let loader = jar --> Redirect() --> mock
        _ = await loader.load(try HTTPRequest("https://www.example.com/"))
        #expect(jar.cookies.map(\.domain) == ["other.example"])
        _ = await loader.load(try HTTPRequest("https://www.example.com/"))
        #expect(mock.requests.last?.headers["Cookie"] == nil)
    }

    @Test("a jar is the same after a file, which only its owner can read")
    func file() throws {
        set("a=1; Path=/; Domain=example.com; Secure; HttpOnly; Max-Age=100")
        set("b=2 3")
        let path = FileManager.default.temporaryDirectory.appending(path: "jar-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try jar.write(to: path)
        let clocks = RetryClocks(monotonic: AnyClock(TestClock())) {
            WallClock.Instant(sinceEpoch: .seconds(1_000_000))
        }
        #expect(try CookieJar(file: path, clocks: clocks).cookies == jar.cookies)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions].map { "\($0)" } == "\(0o600)")
        #expect(try CookieJar(file: path + ".none").cookies.isEmpty)
        #expect(throws: HTTPBody.FileError.self) { try CookieJar(file: "/") }
        #expect(throws: HTTPBody.FileError.self) { try jar.write(to: "/none/jar") }
    }

    @Test("a jar is written to what a link names, and into a pipe")
    func linkAndPipe() throws {
        set("a=1")
        let files = FileManager.default
        let folder = files.temporaryDirectory.appending(path: "jar-\(UUID().uuidString)").path()
        try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? files.removeItem(atPath: folder) }
        try files.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "file")
        _ = files.createFile(atPath: folder + "/file", contents: Data("old".utf8))
        try jar.write(to: folder + "/link")
        #expect(try files.destinationOfSymbolicLink(atPath: folder + "/link") == "file")
        #expect(try String(contentsOfFile: folder + "/file", encoding: .utf8) == jar.netscapeText)
        try files.createSymbolicLink(atPath: folder + "/new", withDestinationPath: "made")
        try jar.write(to: folder + "/new")
        #expect(try files.destinationOfSymbolicLink(atPath: folder + "/new") == "made")
        #expect(try String(contentsOfFile: folder + "/made", encoding: .utf8) == jar.netscapeText)
        try files.createSymbolicLink(atPath: folder + "/loop", withDestinationPath: "loop")
        #expect(throws: HTTPBody.FileError.self) { try jar.write(to: folder + "/loop") }
        #expect(try files.destinationOfSymbolicLink(atPath: folder + "/loop") == "loop")
        let pipe = folder + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        try jar.write(to: pipe)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(reader, &bytes, bytes.count)
        #expect(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self) == jar.netscapeText)
        let names = try files.contentsOfDirectory(atPath: folder).sorted()
        #expect(names == ["file", "link", "loop", "made", "new", "pipe"])
    }

    @Test("lines of a file that are no cookies are skipped")
    func lines() {
        let text = """
            # comment
            .example.com\tTRUE\t/\tFALSE\t0\ta\t1
            #HttpOnly_example.com\tFALSE\t/x\tTRUE\t99999999\tb\t
            example.com\tFALSE\t/\tFALSE\tsoon\tc\t3
            example.com\tFALSE\t/y\tFALSE\t99999999.75\td\t4
            short\tline
            example.com\tFALSE\t/\tFALSE\t5\told\t3
            """
        jar.insert(netscape: text)
        #expect(jar.cookies.map(\.name) == ["a", "b", "d"])
        #expect(sent("https://example.com/x") == "b=; a=1")
    }

    @Test("as a stage it sends each attempt's cookies, beside the request's own field")
    func stage() async throws {
        let mock = MockLoader()
            .then(.status(503, headers: ["Set-Cookie": "s=1; Path=/", "set-cookie": "t=2; Path=/"]))
            .then(.status(200)).then(.status(200))
        let loader = Retry(Backoff.immediately(maxAttempts: 2)) --> jar --> mock
        var request = try HTTPRequest("https://www.example.com/")
        request.headers["Cookie"] = "own=0"
        _ = await loader.load(request)
        #expect(mock.requests.map { $0.headers["Cookie"] } == ["own=0", "s=1; t=2; own=0"])
        jar.removeAll()
        _ = await loader.load(try HTTPRequest("https://www.example.com/"))
        #expect(mock.requests.last?.headers["Cookie"] == nil)
    }
}
