// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RefrainCLI

@Suite("File names")
struct OutputNamingTests {
    @Test(
        "a URL's file stands in a tree by host and path",
        arguments: [
            ("https://h/a/b.txt", "h/a/b.txt"), ("http://h/a/b.txt", "h+80/a/b.txt"),
            ("http://H:8080/a/b.txt#f", "h+8080/a/b.txt"), ("https://u:p@h:443/b.txt", "h/b.txt"),
            ("https://h", "h/index~.html"), ("https://h/a/", "h/a/index~.html"),
            ("https://h/a/index.html", "h/a/index.html"), ("https://h/users/1", "h/users/1.data"),
            ("https://h/v1.2/x.js", "h/v1.2_/x.js"), ("https://h/list.php?page=2", "h/list.php@page=2"),
            ("https://h/s?q=x&n=1", "h/s@q=x&n=1"), ("https://h?x=1", "h/index~@x=1"),
            ("https://h/My%20File.pdf", "h/My File.pdf"), ("https://[::1]:8443/a.b", "__1+8443/a.b"),
        ]
    )
    func tree(url: String, expected: String) {
        #expect(OutputNaming.tree(url) == expected)
    }

    @Test(
        "what a file system would not take is replaced, and told apart by a digest",
        arguments: [
            "https://h/.hidden", "https://h/%2e%2e%2fetc", "https://h/a%00b", "https://h/a%0Ab.txt", "https://h/c:d",
            "https://h/-rf", "https://h/a/../b.txt", "https://h/a//b.txt", "https://h/x~y.txt", "https://h/x@y.txt",
            "https://h/%E2%80%AEtxt.exe", "https://h/a.txt?x=/y", "https://h/a.txt?", "https://h/a.data",
        ]
    )
    func digests(url: String) {
        let name = OutputNaming.tree(url)
        #expect(name.contains("~"), "\(name)")
        #expect(
            name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty && $0.first != "." }
        )
    }

    @Test("a name depends on its URL alone, and no file stands where another URL needs a folder")
    func disjoint() {
        let urls = [
            "a", "a/", "a/b", "a.b", "a.b/", "a.b/c", "a.b_", "a.data", "a?b", "a@b", "index~.html", "a~", "a~/b",
        ]
        var files: Set<String> = []
        var folders: Set<String> = []
        for url in urls {
            let parts = OutputNaming.tree("https://h/" + url).split(separator: "/")
            #expect(files.insert(parts.joined(separator: "/")).inserted, "\(url)")
            for end in 1..<parts.count { folders.insert(parts[..<end].joined(separator: "/")) }
        }
        #expect(files.isDisjoint(with: folders))
    }

    @Test("of URLs one after the other, each is named as it is alone")
    func manyTrees() {
        let starts = [
            "https://h/", "http://h/", "http://H:80/", "https://u:p@h/a/", "https://u:p/w@h/a/", "https://h",
            "https://",
            "https://h/a/", "https://h/a/b/", "https://h/a//", "https://h/a?b/", "https://h/a#b/", "https://h/v1.2/",
            "https://h/.a/", "https://h/%61/", "https://h/\(String(repeating: "long/", count: 178))", "h/",
        ]
        let ends = [
            "1.bin", "2.bin", "a", "", "x.data", "x_", "y.z_", "..", ".hidden", "-rf", "a?b=1", "a#f", "a#f/2.bin",
            "b%41.c", "ü", "c~d", "e@f", "g/h.i", "k\u{301}", String(repeating: "n", count: 200), "?q=/1.bin",
            "@h/2.bin",
        ]
        var tree = OutputTree()
        var number: UInt32 = 1
        for _ in 0..<20_000 {
            number = number &* 1_664_525 &+ 1_013_904_223
            // The start changes seldom, as in a list.
            let start = starts[Int(number >> 24) % 4 == 0 ? Int(number >> 16) % starts.count : 3]
            let url = start + ends[Int(number >> 8) % ends.count]
            #expect(tree.path(of: url) == OutputNaming.tree(url), "\(url)")
        }
    }

    @Test("a flat name has the last component and a digest of the whole URL")
    func flat() {
        let (a, b) = (OutputNaming.flat("https://h/a/index.html"), OutputNaming.flat("https://h/b/index.html"))
        #expect(a != b && a.hasPrefix("index~") && a.hasSuffix(".html"))
        #expect(OutputNaming.flat("https://h/") != OutputNaming.flat("https://i/"))
    }

    @Test(
        "the remote name is the last component of the path, made harmless; none without one",
        arguments: [
            ("http://h/a/b.txt?x", "b.txt"), ("http://h/%2Fetc%20x", "%2Fetc%20x"), ("http://h/a/", nil),
            ("http://h", nil), ("http://h/...", "index"),
        ] as [(String, String?)]
    )
    func remote(url: String, expected: String?) {
        #expect(OutputNaming.remote(url) == expected)
    }

    @Test("a long name is cut, and keeps its ending")
    func cuts() {
        let name = OutputNaming.tree("https://h/" + String(repeating: "é", count: 1000) + ".tar")
        #expect(name.utf8.count <= OutputNaming.maximumLength + 2 && name.hasSuffix(".tar"))
        let deep = OutputNaming.tree("https://h/" + String(repeating: "a/", count: 1000) + "b")
        #expect(deep.utf8.count < 200)
    }

    @Test("10,000 random URLs have names inside of the folder, and two URLs never have the same one", .computing)
    func random() {
        let seed = UInt64(0x5EED)
        var generator = Seeded(seed)
        let parts = [
            "a", "A", ".", "..", "%2e", "%2F", "/", "\\", "%00", "é", "-", "~", ":", "x.y", "?q", "@", "_", " ",
        ]
        var owners: [String: String] = [:]
        for _ in 0..<10_000 {
            let path = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                parts.randomElement(using: &generator) ?? ""
            }
            // A percent-encoded point is the same URL as a point (RFC 3986 §6.2.2.2).
            let url = "https://h/" + path.joined().replacing("%2e", with: ".")
            let name = OutputNaming.tree(url)
            #expect(owners[name, default: url] == url, "seed \(seed): \(name)")
            owners[name] = url
            for part in name.split(separator: "/", omittingEmptySubsequences: false) {
                #expect(!part.isEmpty && !part.hasPrefix(".") && !part.contains("\0"), "seed \(seed): \(name)")
                #expect(part.utf8.count <= 240, "seed \(seed)")
            }
        }
    }
}
