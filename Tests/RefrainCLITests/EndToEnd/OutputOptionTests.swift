// SPDX-License-Identifier: Apache-2.0
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

@Suite("-o, --output-dir and -J: which URL is written where", .timeLimit(.minutes(10)))
struct OutputOptionTests {
    private let server: FaultServer
    private let folder: ScratchFile

    init() throws {
        server = try FaultServer()
        for name in ["a", "b", "c"] { server.on("/\(name)") { _ in [.respond(.init(200, body: name))] } }
        folder = try ScratchFile()
        try folder.makeFolder()
    }

    /// Runs the command in the folder; BASE stands for the address of the server.
    private func get(_ words: String...) async throws -> Executable.Ended { try await get(words) }

    private func get(_ words: [String]) async throws -> Executable.Ended {
        let words = words.map { $0.replacing("BASE", with: server.baseURL) }
        let line = "cd '\(folder.path)' && exec \"$0\" get --attempts 1 \"$@\""
        return try await Executable.run(["-c", line, Executable.path] + words, program: "/bin/sh")
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try folder.file(name).bytes(), as: UTF8.self)
    }

    @Test("each -o is for one URL, in their order, wherever it stands")
    func pairs() async throws {
        #expect(try await get("-o", "1", "BASE/a", "-o", "2", "BASE/b").status == 0)
        #expect(try text("1") == "a" && text("2") == "b")
        #expect(try await get("BASE/b", "BASE/a", "-o", "1", "-o", "2").status == 0)
        #expect(try text("1") == "b" && text("2") == "a" && folder.names == ["1", "2"])
        folder.remove()
    }

    @Test("URLs without an -o of their own are printed in their order, and what has no URL is said")
    func otherCounts() async throws {
        let fewer = try await get("BASE/a", "BASE/b", "BASE/c", "-o", "1")
        #expect(fewer.status == 0 && fewer.text == "bc" && fewer.errors.isEmpty, "\(fewer.errors)")
        #expect(try text("1") == "a" && folder.names == ["1"])
        let more = try await get("BASE/b", "-o", "1", "-o", "2")
        #expect(more.status == 0 && more.errors.contains("\"2\" is not written"), "\(more.errors)")
        #expect(try text("1") == "b" && folder.names == ["1"])
        folder.remove()
    }

    @Test("- prints, /dev/null drops and a pipe is written as it comes, each for its URL; alone they are for all URLs")
    func places() async throws {
        let mixed = try await get("-o", "-", "BASE/a", "-o", "/dev/null", "BASE/b", "-o", "/dev/fd/2", "BASE/c")
        #expect(mixed.status == 0 && mixed.text == "a" && mixed.errors == "c", "\(mixed.errors)")
        #expect(try await get("-o", "/dev/null", "BASE/a", "BASE/b").text.isEmpty)
        #expect(try await get("-o", "-", "BASE/a", "BASE/b").text == "ab")
        #expect(folder.names.isEmpty && server.log.count == 7)
        folder.remove()
    }

    @Test(
        "two URLs are not written to one file, and a list is not paired",
        arguments: [
            (["-o", "x", "BASE/a", "-o", "./x", "BASE/b"], "would both write"),
            (["-o", "x", "-o", "x", "BASE/a", "BASE/b"], "would both write"),
            (["-o", "x", "BASE/a", "-o", ".x.part", "BASE/b"], "would both write"),
            (["--no-clobber", "--output-dir", "d", "BASE/a"], "--no-clobber is for"),
            (["-O", "BASE/a", "--report", "a"], "which --report uses"),
            (["-O", "BASE/a", "-D", "./a"], "which --dump-header uses"),
            (["-O", "BASE/a", "BASE/b", "-c", "b"], "which --cookie-jar uses"),
            (["--from", "list", "-c", "list", "-o", "/dev/null"], "which --from reads"),
            (["-o", "-", "BASE/a", "-o", "/dev/stdout", "BASE/b", "--report", "-"], "standard output"),
            (["-o", "x", "-o", "y", "--from", "list"], "--output-dir"),
            (["-o", "x", "--from", "list"], "--output-dir"),
            (["-o", "x", "BASE/a", "-o", "none/y", "BASE/b"], "--create-dirs"),
            (["--output-dir", "none", "-o", "y", "BASE/b"], "none/y: No such file or directory; --create-dirs"),
        ]
    )
    func refused(words: [String], message: String) async throws {
        try await folder.file("list").overwrite("\(server.baseURL)/a\n\(server.baseURL)/b\n")
        let words = words.map { $0.replacing("BASE", with: server.baseURL) }
        let line = "cd '\(folder.path)' && exec \"$0\" get \"$@\""
        let ended = try await Executable.run(["-c", line, Executable.path] + words, program: "/bin/sh")
        #expect(ended.status == 2 && ended.errors.contains(message), "\(ended.errors)")
        #expect(server.log.isEmpty && folder.names == ["list"])
        folder.remove()
    }

    @Test("no output is emptied where another one cannot be opened")
    func emptied() async throws {
        try await folder.file("p.svg").overwrite("old")
        let ended = try await get("-o", "x", "BASE/a", "--timeline-svg", "p.svg", "--report", "r", "-D", "none/h")
        #expect(ended.status == 2 && ended.errors.contains("--dump-header"), "\(ended.errors)")
        #expect(try text("p.svg") == "old" && folder.names == ["p.svg"])
        folder.remove()
    }

    @Test("a failure of one URL leaves the others, and its own file as it was")
    func oneFails() async throws {
        try await folder.file("1").overwrite("old")
        let ended = try await get("-o", "1", "BASE/status/404", "-o", "2", "BASE/b")
        #expect(ended.status == 22)
        #expect(try text("1") == "old" && text("2") == "b" && folder.names == ["1", "2"])
        folder.remove()
    }

    @Test("-o is within --output-dir, where no state is kept; a partial file of each URL is gone on from")
    func outputDir() async throws {
        try folder.file("d").makeFolder()
        #expect(try await get("--output-dir", "d", "-o", "1", "BASE/a", "-o", "2", "BASE/b").status == 0)
        #expect(try text("d/1") == "a" && text("d/2") == "b" && folder.file("d").names == ["1", "2"])
        let url = "BASE/bytes/600000?cut=400000&times=1"
        #expect(try await get("--output-dir", "d", "-o", "1", url, "-o", "2", "BASE/b").status == 1)
        #expect(folder.file("d").names == [".1.part", ".1.part.json", "1", "2"])
        server.clearLog()
        #expect(try await get("--output-dir", "d", "-o", "1", url, "-o", "2", "BASE/b").status == 0)
        #expect(server.log.contains { $0.headers.contains { $0[0] == "Range" } })
        #expect(try folder.file("d/1").bytes().count == 600_000 && folder.file("d").names == ["1", "2"])
        folder.remove()
    }

    @Test("a state knows which file each content is in")
    func state() async throws {
        #expect(try await get("--state", "s", "-o", "1", "BASE/a", "-o", "2", "BASE/b").status == 0)
        let again = try await get("--state", "s", "-o", "1", "BASE/a", "-o", "2", "BASE/b")
        #expect(again.errors.contains("2 of 2 were done") && server.log.count == 2, "\(again.errors)")
        #expect(try await get("--state", "s", "-o", "2", "BASE/a", "-o", "1", "BASE/b").status == 0)
        #expect(try text("1") == "b" && text("2") == "a" && server.log.count == 4)
        folder.remove()
    }

    @Test(
        "a state knows what is done also where the server or --no-clobber has named the file",
        arguments: [["-OJ", "BASE/cd"], ["-O", "--no-clobber", "BASE/a"]]
    )
    func stateOfNamed(words: [String]) async throws {
        server.on("/cd") { _ in
            [.respond(.init(200, headers: [("Content-Disposition", "attachment; filename=named")], body: "new"))]
        }
        try await folder.file("a").overwrite("old")
        #expect(try await get(words + ["--state", "s"]).status == 0)
        let names = folder.names
        let again = try await get(words + ["--state", "s"])
        #expect(again.status == 0 && again.errors.contains("1 of 1 were done"), "\(again.errors)")
        #expect(folder.names == names && server.log.count == 1)
        folder.remove()
    }

    @Test("--no-clobber gives no two URLs one name")
    func noClobber() async throws {
        try await folder.file("x").overwrite("old")
        let ended = try await get("--no-clobber", "-j", "1", "-o", "x", "BASE/a", "-o", "x.1", "BASE/b")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try text("x") == "old" && text("x.1") == "a" && text("x.1.1") == "b")
        folder.remove()
    }

    @Test("--no-clobber replaces no file that has come while the content did", arguments: [[], ["-C"]])
    func noClobberMeanwhile(words: [String]) async throws {
        let body = [UInt8](repeating: 1, count: 600_000)
        let file = folder.file("late").path
        server.on("/late") { _ in
            close(open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
            return [.respond(.init(200, headers: [("ETag", "\"a\"")], bytes: body))]
        }
        let ended = try await get(["--no-clobber", "-O", "BASE/late", "-w", "%{filename_effective}"] + words)
        #expect(ended.status == 0 && ended.text == "late.1", "\(ended.errors)")
        #expect(try folder.names == ["late", "late.1"] && folder.file("late").bytes().isEmpty)
        #expect(try folder.file("late.1").bytes() == body)
        folder.remove()
    }

    @Test("-J replaces no file that has come while the content did, and writes through no link")
    func namedMeanwhile() async throws {
        let file = folder.file("name").path
        server.on("/cd") { _ in
            let head = "HTTP/1.1 200 OK\r\nContent-Disposition: x; filename=name\r\nContent-Length: 3\r\n\r\n"
            // The name is chosen by the head, and given after the content.
            let content = FaultServer.Generator(count: 3) { _, _ in
                let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
                write(descriptor, "old", 3)
                close(descriptor)
                return Array("new".utf8)
            }
            return [.text(head), .sleep(.milliseconds(300)), .generate(content)]
        }
        let late = try await get("-OJ", "BASE/cd")
        #expect(late.status == 1 && late.errors.contains("already exists"), "\(late.errors)")
        #expect(try text("name") == "old" && folder.names == ["name"])
        unlink(file)
        symlink("elsewhere", file)
        let linked = try await get("-OJ", "BASE/cd")
        #expect(linked.status == 1 && linked.errors.contains("already exists"), "\(linked.errors)")
        #expect(folder.names == ["name"])
        folder.remove()
    }

    @Test(
        "R11: a part that is not the one of -r is an error",
        arguments: [("0-2", "3-5"), ("0-2", "0-8"), ("4-", "0-8"), ("-3", "0-2"), ("6-8", "0-2")]
    )
    func otherRange(asked: String, sent: String) async throws {
        let bytes = Array("012345678".utf8)
        let bounds = sent.split(separator: "-").compactMap { Int($0) }
        server.on("/range") { _ in
            let part = Array(bytes[bounds[0]...bounds[1]])
            return [.respond(.init(206, headers: [("Content-Range", "bytes \(sent)/9")], bytes: part))]
        }
        try await folder.file("x").overwrite("old")
        let ended = try await get("-r", asked, "-o", "x", "BASE/range")
        #expect(ended.status == 1 && ended.errors.contains("bytes \(sent)/9"), "\(ended.errors)")
        #expect(try text("x") == "old" && folder.names == ["x"])
        #expect(try await get("-r", sent, "-o", "x", "BASE/range").status == 0)
        #expect(try folder.file("x").bytes() == Array(bytes[bounds[0]...bounds[1]]))
        folder.remove()
    }

    @Test("-J takes filename* before filename, and two URLs of one name are not written to one file")
    func named() async throws {
        server.on("/cd") { _ in
            let field = "attachment; filename=\"plain.txt\"; filename*=UTF-8''%e2%82%ac%20%2F..%2frates.txt"
            return [.respond(.init(200, headers: [("Content-Disposition", field)], body: "r"))]
        }
        #expect(try await get("-OJ", "BASE/cd").status == 0)
        #expect(try folder.names == ["rates.txt"] && text("rates.txt") == "r")
        // Both heads come before either file is there.
        for name in ["one", "two"] {
            server.on("/\(name)") { _ in
                let head = "HTTP/1.1 200 OK\r\nContent-Disposition: x; filename=same\r\nContent-Length: 3\r\n\r\n"
                return [.text(head), .sleep(.milliseconds(300)), .text(name)]
            }
        }
        let ended = try await get("-OJ", "BASE/one", "BASE/two")
        #expect(ended.status == 1 && ended.errors.contains("as the server names it"), "\(ended.errors)")
        #expect(try ["one", "two"].contains(text("same")) && folder.names == ["rates.txt", "same"])
        folder.remove()
    }

    @Test("a part, or a 304, that was not asked for is asked for once more, and named")
    func unasked() async throws {
        server.on("/part") { _ in [.respond(.init(206, headers: [("Content-Range", "bytes 0-1/9")], body: "ok"))] }
        server.on("/304") { _ in [.respond(.init(304))] }
        for (path, message) in [("/part", "bytes 0-1/9"), ("/304", "is here already")] {
            server.clearLog()
            let words = ["get", "-o", folder.file("x").path, server.baseURL + path]
            let ended = try await Executable.run(words)
            #expect(ended.status == 1 && ended.errors.contains(message), "\(ended.errors)")
            #expect(server.log.count == 2 && folder.names.isEmpty)
        }
        folder.remove()
    }
}
