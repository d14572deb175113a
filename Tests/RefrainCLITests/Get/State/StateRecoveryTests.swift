// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainQueue
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("A state that something has happened to", .timeLimit(.minutes(10)))
struct StateRecoveryTests {
    private let server: FaultServer
    private let folder: ScratchFile
    private var state: String { "\(folder.path)/\(Directory.stateName)" }

    init() throws {
        server = try FaultServer()
        folder = try ScratchFile()
    }

    private func get(_ words: [String]) async throws -> Executable.Ended {
        try await Executable.run(["get", "--attempts", "2", "--backoff", "constant:5ms"] + words)
    }

    @Test(
        "numbers that no run has written neither end the process nor are shown",
        arguments: ["1e300", "-1e300", "9e999", "1e19"]
    )
    func damagedRows(date: String) async throws {
        #expect(
            try await get([server.baseURL + "/ok?1", server.baseURL + "/ok?2", "--output-dir", folder.path]).status == 0
        )
        let database = try Database(path: state)
        try database.run(
            "UPDATE refrain_request SET changed = \(date), attempts = 9223372036854775807, bytes = -5, status = 1e300"
        )
        let text = try await Executable.run(["status", folder.path])
        #expect(text.status == 0 && text.text.contains("2 done; 0 B in"), "\(text.text) \(text.errors)")
        let json = try await Executable.run(["status", "--json", folder.path])
        #expect(json.status == 0 && json.lines.count == 2 && json.text.contains(#""ended":null"#), "\(json.text)")
        #expect(try await get([server.baseURL + "/ok?1", "--output-dir", folder.path]).status == 0)
        folder.remove()
    }

    @Test("a file that is no state is named, with what to do")
    func noState() async throws {
        try folder.makeFolder()
        try await ScratchFile.at(state).overwrite(String(repeating: "no database ", count: 1000))
        let ended = try await get([server.baseURL + "/ok", "--output-dir", folder.path])
        #expect(
            ended.status == 2 && ended.errors.contains(state) && ended.errors.contains("move it away"),
            "\(ended.errors)"
        )
        #expect(server.log.isEmpty)
        folder.remove()
    }

    @Test("the journal that a killed run has left does not come into a new state", arguments: ["-wal", "-journal"])
    func journalWithoutState(ending: String) async throws {
        let words = [server.baseURL + "/ok", "--output-dir", folder.path]
        try folder.makeFolder()
        let journal = ScratchFile.at(state + ending)
        try await journal.overwrite("rows of the state that was moved away")
        let ended = try await get(words)
        #expect(ended.status == 2 && ended.errors.contains("\(state)\(ending) belongs to a state"), "\(ended.errors)")
        #expect(server.log.isEmpty && journal.exists && !ScratchFile.at(state).exists)
        journal.remove()
        #expect(try await get(words).status == 0)
        folder.remove()
    }

    @Test("a state of a later version is refused, by a run and by status, and is left as it is")
    func laterVersion() async throws {
        let words = [server.baseURL + "/ok", "--output-dir", folder.path]
        #expect(try await get(words).status == 0)
        try Database(path: state).run("UPDATE refrain_queue SET version = 9; UPDATE refrain_request SET state = 7")
        for ended in [try await get(words), try await Executable.run(["status", folder.path])] {
            #expect(ended.status == 2 && ended.errors.contains("later version of refrain (9"), "\(ended.errors)")
            #expect(!ended.errors.contains("move it away"), "\(ended.errors)")
        }
        #expect(server.log.count == 1)
        folder.remove()
    }

    @Test("what is done is in the state within a fraction of a second, while another file still comes")
    func writtenInTime() async throws {
        let urls = (0..<20).map { "\(server.baseURL)/bytes/100?n=\($0)" }
        let running = try Executable.start(["get", "--output-dir", folder.path] + urls + [server.baseURL + "/hang"])
        var text = ""
        // So many looks, not so much time: on a busy machine both commands are slow.
        for _ in 0..<400 where !text.contains("20 done") {
            text = try await Executable.run(["status", folder.path]).text
        }
        running.signal(9)
        _ = await running.end()
        #expect(text.contains("21 requests: 20 done, 1 pending"), "\(text)")
        folder.remove()
    }

    @Test("a state whose list was not read to its end is not done, and neither is one without requests")
    func cutList() async throws {
        try folder.makeFolder()
        try await ListState(path: state, option: "").note(list: "urls.txt", isRead: false)
        let empty = try await Executable.run(["status", folder.path])
        #expect(empty.status == 1 && empty.text.hasPrefix("at least 0 requests"), "\(empty.text) \(empty.errors)")
        let list = try ScratchFile((0..<600).map { "\(server.baseURL)/ok?\($0)\n" }.joined())
        #expect(try await get(["--from", list.path, "--output-dir", folder.path, "-j", "32"]).status == 0)
        try Database(path: state).run("DELETE FROM refrain_list WHERE name = 'urls.txt'")
        #expect(try await Executable.run(["status", folder.path]).status == 0)
        try Database(path: state).run("UPDATE refrain_list SET isRead = 0")
        let cut = try await Executable.run(["status", folder.path])
        #expect(cut.status == 1 && cut.text.contains("at least 600 requests"), "\(cut.text)")
        #expect(cut.text.contains("not read to its end"))
        list.remove()
        folder.remove()
    }

    @Test("URLs that differ in case alone both get their file, where the file system tells them apart")
    func lettersOfTwoCases() async throws {
        try folder.makeFolder()
        let probe = folder.file("probe")
        try await probe.overwrite("")
        guard !folder.file("PROBE").exists else { return folder.remove() }
        probe.remove()
        for name in ["/v/aBc", "/v/AbC"] { server.on(name) { _ in [.respond(.init(200, body: name))] } }
        let urls = [server.baseURL + "/v/aBc", server.baseURL + "/v/AbC"]
        let ended = try await get(urls + ["--output-dir", folder.path])
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try folder.file(OutputNaming.tree(urls[0])).bytes() == Array("/v/aBc".utf8))
        #expect(try folder.file(OutputNaming.tree(urls[1])).bytes() == Array("/v/AbC".utf8))
        folder.remove()
    }

    @Test("both spellings of a letter beyond ASCII are one request")
    func spellings() async throws {
        let words = [server.baseURL + "/ok?ü", server.baseURL + "/ok?%C3%BC", "--output-dir", folder.path]
        let ended = try await get(words)
        #expect(ended.status == 0 && server.log.count == 1, "\(ended.errors)")
        #expect(try await get(words).status == 0)
        #expect(server.log.count == 1)
        folder.remove()
    }

    @Test("how many were done before is said once, for the whole of a long list")
    func skippedOnce() async throws {
        let list = try ScratchFile((0..<1200).map { "\(server.baseURL)/ok?\($0)\n" }.joined())
        let words = ["--from", list.path, "--output-dir", folder.path, "-j", "32"]
        #expect(try await get(words).status == 0)
        let again = try await get(words)
        #expect(
            again.errors == "refrain get: 1200 of 1200 were done in an earlier run and are skipped\n",
            "\(again.errors)"
        )
        list.remove()
        folder.remove()
    }

    @Test("a header of a line that no request can have is refused with the line, before anything is sent")
    func headersOfLines() async throws {
        let list = try ScratchFile(
            "\(server.baseURL)/ok\n{\"url\": \"\(server.baseURL)/ok\", \"headers\": {\"Content-Length\": \"5\"}}\n"
        )
        let ended = try await get(["--from", list.path, "--output-dir", folder.path])
        #expect(ended.status == 2 && ended.errors.contains("\(list.path):2: \"headers\": "), "\(ended.errors)")
        #expect(server.log.isEmpty)
        list.remove()
    }
}
