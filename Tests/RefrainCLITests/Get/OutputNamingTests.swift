import Testing

@testable import RefrainCLI

@Suite("File names")
struct OutputNamingTests {
    private func names(_ urls: String...) -> [String] {
        var naming = OutputNaming()
        return urls.map { naming.name(for: $0) }
    }

    @Test(
        "a name is the last component of the path, made harmless",
        arguments: [
            ("http://h/a/b.txt", "b.txt"), ("http://h/a/b.txt?x=/y", "b.txt"), ("http://h/a#f", "a"),
            ("http://h", "index"),
            ("http://h/", "index"), ("http://h/a/", "a"), ("http://h/a/..", "index"), ("http://h/.", "index"),
            ("http://h/.hidden", "hidden"), ("http://h/%2e%2e%2fetc", "_etc"),
            ("http://h/%2Fetc%2Fpasswd", "_etc_passwd"),
            ("http://h/a%00b", "a_b"), ("http://h/a%0Ab", "a_b"), ("http://h/My%20File.pdf", "My File.pdf"),
            ("http://h/%FF", "%FF"), ("http://h/a%5Cb", "a_b"), ("http://h/c:d", "c_d"), ("http://h/-rf", "rf"),
            ("http://h/...", "index"), ("http://h/a...", "a"), ("http://h?x", "index"),
            ("http://h/%E2%80%AEtxt.exe", "_txt.exe"),
        ]
    )
    func sanitizes(url: String, expected: String) {
        #expect(names(url) == [expected])
    }

    @Test("two URLs never share a file: equal names are numbered before their ending")
    func numbers() {
        #expect(names("http://h/a.txt", "http://i/a.txt", "http://h/a.txt") == ["a.txt", "a-2.txt", "a-3.txt"])
        #expect(names("http://h/a", "http://h/a", "http://h/a-2", "http://h/a") == ["a", "a-2", "a-2-2", "a-3"])
        #expect(names("http://h/a-2", "http://h/a", "http://h/a") == ["a-2", "a", "a-3"])
    }

    @Test("names that differ in case, or in the composition of a letter, are numbered too")
    func folds() {
        #expect(names("http://h/A.TXT", "http://h/a.txt") == ["A.TXT", "a-2.txt"])
        #expect(names("http://h/%C3%A9", "http://h/e%CC%81") == ["é", "e\u{301}-2"])
        #expect(names("http://h/stra%C3%9Fe", "http://h/STRASSE") == ["straße", "STRASSE-2"])
    }

    @Test("a long name is cut, and keeps its ending")
    func cuts() {
        let name = names("http://h/" + String(repeating: "é", count: 1000) + ".tar")[0]
        #expect(name.utf8.count <= OutputNaming.maximumLength)
        #expect(name.hasSuffix(".tar"))
    }

    @Test("10,000 random URLs get as many names, all of them inside of the folder")
    func random() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = Seeded(seed)
        let parts = ["a", "A", ".", "..", "%2e", "%2F", "/", "\\", "%00", "é", "-", "~", ":", "x.y", "?q", "#f", " "]
        var naming = OutputNaming()
        var seen: Set<String> = []
        for _ in 0..<10_000 {
            let path = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                parts.randomElement(using: &generator) ?? ""
            }
            let name = naming.name(for: "http://h/" + path.joined())
            #expect(seen.insert(name.lowercased()).inserted, "seed \(seed): \(name)")
            #expect(
                !name.isEmpty && !name.hasPrefix(".") && !name.contains("/") && !name.contains("\0"),
                "seed \(seed): \(name)"
            )
            #expect(name.utf8.count <= 200, "seed \(seed)")
        }
    }
}
