// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("Digests of contents", .timeLimit(.minutes(10)))
struct DigestTests {
    private let server: FaultServer
    private let folder: ScratchFile
    /// The SHA-256 and the SHA-512 of "abc" (FIPS 180-4).
    private static let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    private static let sha512 =
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    private static let wrong = String(sha256.reversed())

    init() throws {
        server = try FaultServer()
        folder = try ScratchFile()
        try folder.makeFolder()
        server.on("/abc") { _ in [.respond(.init(200, body: "abc"))] }
    }

    private func get(_ words: [String]) async throws -> Executable.Ended {
        try await Executable.run(["get", "--attempts", "2", "--backoff", "constant:5ms"] + words)
    }

    private func base64(_ hex: String) throws -> String {
        try base64Text(#require(ContentDigest(hex: hex, source: "")).bytes)
    }

    @Test("the digests of known bytes, in one piece and in several")
    func vectors() {
        for (algorithm, hex) in [(ContentDigest.Algorithm.sha256, Self.sha256), (.sha512, Self.sha512)] {
            let computation = ContentDigest.Computation(algorithm)
            for piece in ["a", "", "bc"] { Array(piece.utf8).withUnsafeBytes { computation.update($0) } }
            #expect(ContentDigest.hex(computation.finish()) == hex)
        }
    }

    @Test("--sha256 passes the right content, and leaves neither file nor partial file of another one")
    func file() async throws {
        let file = folder.file("abc")
        let (url, path) = (server.baseURL + "/abc", file.path)
        #expect(try await get([url, "-o", path, "--sha256", Self.sha256.uppercased()]).status == 0)
        #expect(try file.bytes() == Array("abc".utf8))
        file.remove()
        for more in [[], ["-C"], ["--segments", "2"]] {
            let ended = try await get([url, "-o", path, "--sha256", Self.wrong] + more)
            #expect(ended.status == 1 && ended.errors.contains("sha-256 is \(Self.sha256), but --sha256 says"))
            #expect(folder.names == [])
        }
        // A large one with a validator would be kept, to be continued.
        let large = try await get([server.baseURL + "/bytes/600000", "-o", path, "-C", "--sha256", Self.wrong])
        #expect(large.status == 1 && folder.names == [])
        folder.remove()
    }

    @Test("a list of digests is looked up by the path in the output folder before the bare name")
    func pathBeforeName() async throws {
        server.on("/b/abc.txt") { _ in [.respond(.init(200, body: "abc"))] }
        let url = server.baseURL + "/b/abc.txt"
        let list = try ScratchFile("\(Self.wrong)  abc.txt\n\(Self.sha256)  \(OutputNaming.tree(url))\n")
        let ended = try await get([url, "--output-dir", folder.path, "--checksum-file", list.path])
        #expect(ended.status == 0, "\(ended.errors)")
        list.remove()
        folder.remove()
    }

    @Test("--sha256 of standard output: a content of less than a megabyte is not printed, either")
    func standardOutput() async throws {
        let right = try await get([server.baseURL + "/abc", "--sha256", Self.sha256])
        #expect(right.status == 0 && right.text == "abc")
        let wrong = try await get([server.baseURL + "/abc", "--sha256", Self.wrong])
        #expect(wrong.status == 1 && wrong.text == "")
        // Cut on the way, and so fetched twice.
        let cut = try await get([server.baseURL + "/bytes/1000?cut=10&times=1", "--sha256", Self.wrong])
        let whole = server.log.last?.path ?? ""
        #expect(cut.status == 1 && whole.hasPrefix("/bytes/1000"))
    }

    @Test("a list of digests is of the names of the files; one that is missing is refused before the first request")
    func list() async throws {
        let list = try ScratchFile(
            "# made by hand\n\(Self.sha256) *./abc\r\nSHA512 (d (1).txt) = \(Self.sha512)\n"
        )
        server.on("/d%20(1).txt") { _ in [.respond(.init(200, body: "abc"))] }
        server.on("/e") { _ in [.respond(.init(200, body: "abc"))] }
        let urls = [server.baseURL + "/abc", server.baseURL + "/d%20(1).txt"]
        let words = ["-O", "--output-dir", folder.path, "--checksum-file", list.path]
        let ended = try await get(urls + words)
        #expect(ended.status == 0 && folder.names == ["abc", "d%20(1).txt"], "\(ended.errors)")
        server.clearLog()
        let refused = try await get(urls + [server.baseURL + "/e"] + words)
        #expect(refused.status == 2 && refused.errors.contains(#"has no line for "e""#), "\(refused.errors)")
        #expect(server.log.isEmpty)
        folder.remove()
    }

    @Test("a file that an earlier run has brought is compared as well, and fetched again where it differs")
    func doneEarlier() async throws {
        let words = [server.baseURL + "/abc", "--output-dir", folder.path]
        #expect(try await get(words).status == 0)
        let name = try #require(folder.files.first)
        try await folder.file(name).overwrite("abd")
        let list = try ScratchFile("\(Self.sha256)  \(name)\n")
        server.clearLog()
        #expect(try await get(words + ["--checksum-file", list.path]).status == 0)
        #expect(try folder.file(name).bytes() == Array("abc".utf8) && server.log.count == 1)
        #expect(try await get(words + ["--checksum-file", list.path]).status == 0 && server.log.count == 1)
        let wrong = try await get(words + ["--sha256", Self.wrong])
        #expect(wrong.status == 1 && wrong.errors.contains("--sha256 says"), "\(wrong.errors)")
        folder.remove()
        list.remove()
    }

    @Test("a list may begin with a byte order mark, and have names with escapes and with line breaks of Unicode")
    func oddNames() throws {
        let digest = Self.sha256
        let lines = [
            "\u{FEFF}\(digest)  first", "\\\(digest)  a\\\\b", "\\\(digest) *n\\nl", "\\SHA256 (c\\rr) = \(digest)",
            "\(digest)  u\u{2028}v\u{B}w", "SHA256 (./tag) = \(digest)", "\(digest)  c\\d", "\(digest)  \u{301}",
        ]
        let list = try ChecksumFile(lines.joined(separator: "\r\n") + "\r\n", path: "sums")
        for name in ["first", "a\\b", "n\nl", "c\rr", "u\u{2028}v\u{B}w", "tag", "c\\d", "\u{301}"] {
            #expect(throws: Never.self, "\(name)") { _ = try list.digest(for: [name]) }
        }
        #expect(throws: UsageError.self) { try ChecksumFile("\\\(digest)  a\\tb\n", path: "sums") }
    }

    @Test("a list that cannot be read is refused with the number of its line")
    func badList() throws {
        let digest = Self.sha256
        let contrary = ["\(Self.wrong)  x", "SHA256 (x) = \(Self.wrong)"]
        for line in ["abc", digest, "\(digest.dropLast())  abc", "\(digest)  ", "SHA256 (a = \(digest)"] + contrary {
            let error = #expect(throws: UsageError.self) {
                _ = try ChecksumFile("\(Self.sha256)  x\n\n\(line)\n", path: "sums")
            }
            #expect(error.map { "\($0)".contains("sums:3") } == true, "\(line)")
        }
    }

    @Test("the server's digests are compared, and asked for with --segments: RFC 9530")
    func fields() async throws {
        let (right, wrong) = (try base64(Self.sha256), try base64(Self.wrong))
        let long = try base64(Self.sha512)
        let cases: [(name: String, value: String, status: Int32)] = [
            ("Repr-Digest", "sha-256=:\(right):", 0), ("Repr-Digest", "sha-256=:\(wrong):", 1),
            ("Repr-Digest", "md5=:AAAA:, sha-512=:\(long):", 0), ("Content-Digest", "sha-256=:\(wrong):", 1),
            // What cannot be read, or is of a function that is not known, says nothing.
            ("Repr-Digest", "sha-256=\(wrong)", 0), ("Repr-Digest", "sha-256=:AAAA:", 0),
            ("Repr-Digest", "unixsum=:AAAA:", 0),
        ]
        for (name, value, status) in cases {
            server.on("/digest") { _ in [.respond(.init(200, headers: [(name, value)], body: "abc"))] }
            let ended = try await get([server.baseURL + "/digest", "-o", folder.file("x").path])
            #expect(ended.status == status, "\(name): \(value): \(ended.errors)")
            #expect(folder.names == (status == 0 ? ["x"] : []))
            folder.file("x").remove()
        }
        #expect(server.log.allSatisfy { $0.header("Want-Repr-Digest") == nil })
        server.clearLog()
        _ = try await get([server.baseURL + "/digest", "-o", folder.file("x").path, "--segments", "2"])
        #expect(server.log.first?.header("Want-Repr-Digest") == "sha-256=10, sha-512=5")
        // Of the coded form, which is not what is kept, and of a content that is not kept at all.
        server.on("/coded") { _ in
            let headers = [("Repr-Digest", "sha-256=:\(wrong):"), ("Content-Encoding", "x")]
            return [.respond(.init(200, headers: headers, body: "abc"))]
        }
        #expect(try await get([server.baseURL + "/coded", "-o", folder.file("y").path]).status == 0)
        #expect(try await get([server.baseURL + "/digest"]).status == 0)
        folder.remove()
    }

    @Test(
        "options that contradict each other are refused",
        arguments: [
            (["--sha256", "abc"], "is not 64 hexadecimal digits"),
            (["--sha256", DigestTests.sha512], "is not 64 hexadecimal digits"),
            (["--sha256", DigestTests.sha256, "http://localhost/b", "--output-dir", "d"], "use --checksum-file"),
            (["--sha256", DigestTests.sha256, "-i"], "exclude each other"),
            (["--checksum-file", "/nowhere/sums"], "cannot read /nowhere/sums"),
            (["--segments", "4"], "needs a file"), (["--segments", "0", "-o", "x"], "1 to 64"),
            (["--segments", "4", "-o", "x", "-i"], "exclude each other"), (["-x", "4"], "--segments 4"),
        ]
    )
    func refused(words: [String], text: String) async throws {
        let ended = try await get(["http://localhost/a"] + words)
        #expect(ended.status == 2 && ended.errors.contains(text), "\(ended.errors)")
    }
}

private func base64Text(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = Array(bytes[start..<min(start + 3, bytes.count)])
        let bits = (0..<3).reduce(0) { $0 << 8 | ($1 < group.count ? Int(group[$1]) : 0) }
        for index in 0..<4 {
            text.append(index <= group.count ? letters[bits >> (18 - 6 * index) & 63] : "=")
        }
    }
    return text
}
