// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainQueue
import RefrainTesting
import Testing

@testable import RefrainCLI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("A list that has changed, and what a killed run has left", .timeLimit(.minutes(10)))
struct ChangedListTests {
    private let server: FaultServer
    private let folder: ScratchFile
    private let list: ScratchFile

    init() throws {
        server = try FaultServer()
        folder = try ScratchFile()
        list = try ScratchFile()
        // The first answer to each URL is cut in the middle.
        let asked = Locked<Set<String>>([])
        server.on("/big") { request in
            let isFirst = asked.withLock { $0.insert(request.target).inserted }
            guard isFirst else { return [.respond(.init(200, body: "small"))] }
            let head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 600000\r\n\r\n"
            return [.text(head), .send([UInt8](repeating: 1, count: 400_000)), .close]
        }
    }

    private func get(_ words: [String]) async throws -> Executable.Ended {
        try await Executable.run(["get", "--attempts", "1", "--output-dir", folder.path] + words)
    }

    private func status(_ words: [String] = []) async throws -> Executable.Ended {
        try await Executable.run(["status", folder.path] + words)
    }

    private func hasPart(of url: String) -> Bool {
        Directory.kind(of: PartialNames(folder.file(OutputNaming.tree(url)).path).part) == .file
    }

    @Test("an unfinished request that the list no longer has is forgotten with its partial file")
    func removedLine() async throws {
        let other = try ScratchFile("\(server.baseURL)/big?other\n")
        #expect(try await get(["--from", other.path]).status == 1)
        #expect(try await get([server.baseURL + "/big?alone"]).status == 1)
        let urls = ["/ok", "/big?left", "/status/404"].map { server.baseURL + $0 }
        try await list.overwrite(urls.joined(separator: "\n"))
        #expect(try await get(["--from", list.path]).status == 1)
        #expect(hasPart(of: urls[1]))
        try await list.overwrite("\(urls[0])\n\(server.baseURL)/ok?2\n")
        let ended = try await get(["--from", list.path])
        #expect(ended.status == 0 && ended.errors.contains("not in the list any more: 2;"), "\(ended.errors)")
        #expect(!hasPart(of: urls[1]))
        let rest = try await status()
        #expect(rest.text.contains("4 requests: 2 done, 2 partial"), "\(rest.text)")
        for query in ["other", "alone"] { #expect(hasPart(of: "\(server.baseURL)/big?\(query)")) }
        let again = try await get(["--from", list.path])
        #expect(!again.errors.contains("any more"), "\(again.errors)")
        for file in [folder, list, other] { file.remove() }
    }

    @Test("a request that another list has taken over is that list's, and the key of an order stays")
    func movedLine() async throws {
        let moved = server.baseURL + "/big?moved"
        let order = "{\"url\": \"\(server.baseURL)/status/503\", \"method\": \"POST\", \"body\": \"1\", \"key\": \"k\"}"
        try await list.overwrite("\(moved)\n\(order)\n")
        #expect(try await get(["--from", list.path]).status != 0)
        let other = try ScratchFile(moved)
        server.on("/big") { _ in [.close] }
        #expect(try await get(["--from", other.path]).status == 1)
        try await list.overwrite(server.baseURL + "/ok")
        let ended = try await get(["--from", list.path])
        #expect(ended.status == 0 && !ended.errors.contains("any more"), "\(ended.errors)")
        let rest = try await status(["--json"])
        #expect(hasPart(of: moved) && rest.lines.count == 3, "\(rest.text)")
        #expect(rest.lines.contains { $0.contains("POST") && !$0.contains(#""key":null"#) }, "\(rest.text)")
        for file in [folder, list, other] { file.remove() }
    }

    @Test("a run that was killed before its rows were written has its list, too; so has a state of an earlier build")
    func killed() async throws {
        let urls = (0..<20).map { "\(server.baseURL)/hang?\($0)" }
        try await list.overwrite(urls.joined(separator: "\n"))
        let running = try Executable.start(["get", "--output-dir", folder.path, "--from", list.path])
        await server.requests(atLeast: 1)
        running.signal(SIGKILL)
        _ = await running.end()
        try await list.overwrite(server.baseURL + "/ok")
        let ended = try await get(["--from", list.path])
        #expect(ended.status == 0 && ended.errors.contains("any more: 20;"), "\(ended.errors)")
        let state = Directory.path(folder.path, Directory.stateName)
        try EarlierTables.write(state)
        try Database(path: state).run("ALTER TABLE requests DROP COLUMN list")
        #expect(try await get(["--from", list.path]).errors.contains("1 of 1 were done"))
        for file in [folder, list] { file.remove() }
    }

    @Test("a URL of the command line beside a list is not forgotten, also after a run that was killed early")
    func besideList() async throws {
        let urls = (0..<20).map { "\(server.baseURL)/hang?\($0)" }
        try await list.overwrite(urls.joined(separator: "\n"))
        let alone = server.baseURL + "/hang?alone"
        let running = try Executable.start(["get", "--output-dir", folder.path, "--from", list.path, alone])
        await server.requests(atLeast: 1)
        running.signal(SIGKILL)
        _ = await running.end()
        try await list.overwrite(server.baseURL + "/ok")
        #expect(try await get(["--from", list.path]).status == 0)
        let rest = try await Executable.run(["status", "--json", folder.path])
        let row = rest.lines.first { $0.contains(#""url":"\#(alone)""#) }
        #expect(row?.contains(#""outcome":"pending""#) == true, "\(rest.text)")
        for file in [folder, list] { file.remove() }
    }

    @Test("the state shows the bytes that a killed run has stored, in segments or not", arguments: [false, true])
    func storedBytes(inSegments: Bool) async throws {
        server.on("/slow") { request in
            let range = request.header("Range")
            guard range == nil || range == "bytes=0-1048575" else { return [.hang] }
            let status = range == nil ? "200 OK" : "206 Partial Content\r\nContent-Range: bytes 0-1048575/9000000"
            let length = range == nil ? 9_000_000 : 1 << 20
            let head = "HTTP/1.1 \(status)\r\nETag: \"a\"\r\nContent-Length: \(length)\r\n\r\n"
            return [.text(head), .send([UInt8](repeating: 1, count: 1 << 20)), .hang]
        }
        let words = ["get", "--output-dir", folder.path, server.baseURL + "/slow"]
        let running = try Executable.start(words + (inSegments ? ["--segments", "2"] : []))
        var text = ""
        for _ in 0..<400 where !text.contains("; 1.0 MB") { text = try await status().text }
        #expect(text.contains("1 requests: 0 done, 1 partial"), "\(text)")
        running.signal(SIGKILL)
        _ = await running.end()
        let json = try await status(["--json"])
        #expect(json.text.contains(#""outcome":"partial""#) && json.text.contains(#""bytes":1048576,"#), "\(json.text)")
        folder.remove()
    }

    @Test("two spellings of one URL are one request for one file")
    func spellings() async throws {
        for path in ["/a%62", "/ab"] { server.on(path) { _ in [.respond(.init(200, body: "ab"))] } }
        let ended = try await get(["/a%62", "/ab", "/%61b"].map { server.baseURL + $0 })
        #expect(ended.status == 0 && server.log.count == 1, "\(ended.errors)")
        folder.remove()
    }

    @Test("--refresh with -i leaves a file whose content has not changed")
    func refreshWithHead() async throws {
        server.on("/page") { request in
            let isSame = request.header("If-None-Match") != nil
            return [.respond(.init(isSame ? 304 : 200, headers: [("ETag", "\"1\"")], body: isSame ? "" : "content"))]
        }
        let words = [server.baseURL + "/page", "-i", "--refresh"]
        #expect(try await get(words).status == 0)
        let file = folder.file(OutputNaming.tree(words[0]))
        let content = try file.bytes()
        #expect(String(decoding: content, as: UTF8.self).hasSuffix("content"))
        for _ in 0..<2 {
            #expect(try await get(words).status == 0)
            #expect(try file.bytes() == content)
        }
        #expect(server.log.compactMap { $0.header("If-None-Match") }.count == 2)
        folder.remove()
    }

    @Test("a list that was not read to its end is said beside JSON, too")
    func cutList() async throws {
        try folder.makeFolder()
        let state = Directory.path(folder.path, Directory.stateName)
        try await ListState(path: state, option: "").note(list: "urls.txt", isRead: false)
        let ended = try await status(["--json"])
        #expect(ended.status == 1 && ended.text.isEmpty && ended.errors.contains("not read to its end"))
        folder.remove()
    }
}
