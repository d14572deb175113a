// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainCLI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("Files that lead elsewhere, do not end or were left by another run", .timeLimit(.minutes(10)))
struct OutsideTests {
    private let server: FaultServer
    private let folder: ScratchFile

    init() throws {
        server = try FaultServer()
        folder = try ScratchFile()
        try folder.makeFolder()
    }

    private func get(_ words: [String]) async throws -> Executable.Ended {
        try await Executable.run(["get", "--attempts", "1"] + words)
    }

    // MARK: Symbolic links

    @Test(
        "below the output folder no symbolic link is followed, neither of a folder nor of a file nor of the state"
    )
    func links() async throws {
        let (out, other) = (folder.file("out"), folder.file("other"))
        try out.makeFolder()
        try other.makeFolder()
        let host = "127.0.0.1+\(server.port)"
        // A folder.
        #expect(symlink(other.path, out.file(host).path) == 0)
        let first = try await get(["--output-dir", out.path, server.baseURL + "/ok"])
        #expect(first.status == 1 && first.errors.contains("symbolic link"), "\(first.errors)")
        #expect(other.names == [] && server.log.isEmpty)
        unlink(out.file(host).path)
        // A folder further down, and a file.
        try out.file(host).makeFolder()
        #expect(symlink(other.path, out.file(host).file("bytes").path) == 0)
        #expect(symlink(other.file("victim").path, out.file(host).file("ok.data").path) == 0)
        let words = ["--output-dir", out.path, server.baseURL + "/bytes/10", server.baseURL + "/ok"]
        #expect(try await get(words).status == 1)
        #expect(other.names == [] && server.log.isEmpty)
        // The state.
        for ending in ["", "-wal", "-shm", "-lock"] {
            unlink(out.file(".refrain.sqlite" + ending).path)
        }
        #expect(symlink(other.file("state").path, out.file(".refrain.sqlite").path) == 0)
        let state = try await get(["--output-dir", out.path, server.baseURL + "/ok"])
        #expect(state.status == 2 && state.errors.contains("symbolic link"), "\(state.errors)")
        #expect(other.names == [])
        folder.remove()
    }

    @Test("the output folder itself may be a symbolic link")
    func linkedRoot() async throws {
        let real = folder.file("real")
        try real.makeFolder()
        #expect(symlink(real.path, folder.file("link").path) == 0)
        #expect(
            try await get(["--output-dir", folder.file("link").path, server.baseURL + "/ok"]).status == 0
        )
        #expect(real.files.count == 1)
        folder.remove()
    }

    // MARK: Files without an end

    @Test(
        "a pipe without a writer is an error within the time of the call",
        arguments: [
            ["-d", "@PIPE"], ["--netrc-file", "PIPE"], ["-H", "@PIPE"], ["--cacert", "PIPE"],
            ["-b", "PIPE"], ["-T", "PIPE"],
            ["--bearer", "@PIPE"], ["--json", "@PIPE"],
        ]
    )
    func pipe(words: [String]) async throws {
        let pipe = try ScratchFile.pipe()
        for limit in [["--deadline", "300ms"], ["-m", "0.3"]] {
            let words = words.map { $0.replacing("PIPE", with: pipe.path) }
            let ended = try await get(words + limit + [server.baseURL + "/ok"])
            #expect(ended.status == 2 && ended.errors.contains(pipe.path), "\(words) \(ended.errors)")
        }
        #expect(server.log.isEmpty)
        pipe.remove()
        folder.remove()
    }

    @Test("a body of a line that is a pipe without a writer is an error within the time of the call")
    func bodyFile() async throws {
        let pipe = try ScratchFile.pipe()
        let list = try ScratchFile(
            "{\"url\": \"\(server.baseURL)/ok\", \"bodyFile\": \"\(pipe.path)\"}\n"
        )
        let ended = try await get(["--from", list.path, "--deadline", "300ms"])
        #expect(ended.status == 2 && ended.errors.contains(pipe.path), "\(ended.errors)")
        pipe.remove()
        list.remove()
        folder.remove()
    }

    #if os(Linux)
    @Test(
        "a device without an end is an error, and takes little memory",
        arguments: [
            ["-d", "@/dev/zero"], ["--netrc-file", "/dev/zero"], ["-H", "@/dev/zero"],
            ["--cacert", "/dev/zero"],
            ["-b", "/dev/zero"], ["-T", "/dev/zero"], ["--bearer", "@/dev/zero"],
        ]
    )
    func device(words: [String]) async throws {
        let line = "ulimit -v 4000000; exec \"$@\""
        let ended = try await Executable.run(
            ["-c", line, "sh", Executable.path, "get"] + words + [server.baseURL + "/ok"],
            program: "/bin/sh"
        )
        #expect(
            ended.status == 2 && ended.errors.contains("/dev/zero"),
            "\(ended.status) \(ended.errors)"
        )
        #expect(server.log.isEmpty)
        folder.remove()
    }
    #endif

    @Test("a pipe with a writer that takes its time, and /dev/null, are read")
    func slowWriter() async throws {
        let line =
            "{ sleep 0.3; echo 'A: b'; } | \"$1\" get -H @/dev/stdin -d @/dev/null --json-ignored \"$2/echo\""
        let plain = line.replacing(" --json-ignored", with: "")
        let ended = try await Executable.run(
            ["-c", plain, "sh", Executable.path, server.baseURL],
            program: "/bin/sh"
        )
        #expect(ended.status == 0 && ended.text.contains("\"b\""), "\(ended.errors) \(ended.text)")
        folder.remove()
    }

    // MARK: Partial files

    private let content = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    private func serve(cutAt cut: Int?) {
        server.on("/f") { [content] request in
            let first =
                request.header("Range").flatMap { Int($0.dropFirst(6).prefix { $0.isNumber }) } ?? 0
            var headers = [("ETag", "\"v1\""), ("Content-Length", "\(content.count - first)")]
            if first > 0 {
                headers.append(("Content-Range", "bytes \(first)-\(content.count - 1)/\(content.count)"))
            }
            let body = Array(content[first..<(cut ?? content.count)])
            return [.head(.init(first > 0 ? 206 : 200, headers: headers)), .send(body)]
                + (cut == nil ? [] : [.close])
        }
    }

    /// Leaves a partial file; returns its record.
    private func leavePart(_ file: ScratchFile) async throws -> PartialRecord {
        serve(cutAt: 600_000)
        #expect(try await get(["-C", "-o", file.path, server.baseURL + "/f"]).status == 1)
        serve(cutAt: nil)
        return try #require(PartialRecord.read(PartialNames(file.path).record))
    }

    @Test(
        "R11: after another start of the system a partial file counts as far as it was synchronized"
    )
    func otherBoot() async throws {
        for (boot, synced, range) in [
            ("other", 500_000, "bytes=500000-"), ("", 400_000, "bytes=600000-"),
        ] {
            let file = folder.file("out")
            var record = try await leavePart(file)
            if !boot.isEmpty { record.boot = boot }
            record.synced = Int64(synced)
            try record.write(PartialNames(file.path).record)
            #expect(try await get(["-C", "-o", file.path, server.baseURL + "/f"]).status == 0)
            #expect(server.log.last?.header("Range") == range)
            #expect(try file.bytes() == content)
            unlink(file.path)
        }
        folder.remove()
    }

    @Test("R11: of a complete partial file the last byte is fetched again, and no more")
    func completePart() async throws {
        let file = folder.file("out")
        _ = try await leavePart(file)
        try ScratchFile.at(PartialNames(file.path).part).write(bytes: content)
        #expect(try await get(["-C", "-o", file.path, server.baseURL + "/f"]).status == 0)
        #expect(server.log.last?.header("Range") == "bytes=999999-")
        #expect(try file.bytes() == content)
        folder.remove()
    }

    @Test(
        "a replaced file keeps its mode, a new one has the usual one, and a record is its owner's alone"
    )
    func modes() async throws {
        let file = folder.file("out")
        for (mode, result) in [(nil, 0o644), (0o600, 0o600), (0o640, 0o640), (0o755, 0o755)]
            as [(mode_t?, mode_t)]
        {
            unlink(file.path)
            if let mode {
                try await file.overwrite("old")
                file.mode = mode
            }
            _ = try await leavePart(file)
            #expect(ScratchFile.at(PartialNames(file.path).record).mode == 0o600)
            #expect(ScratchFile.at(PartialNames(file.path).part).mode == 0o600)
            #expect(try await get(["-C", "-o", file.path, server.baseURL + "/f"]).status == 0)
            #expect(file.mode == result)
        }
        folder.remove()
    }

    @Test(
        "R11: segments with a gap, an overlap or another end are no record",
        arguments: [
            [[0, 10], [11, 20]], [[0, 10], [9, 20]], [[1, 20]], [[0, 19]], [[0, 21]],
            [[0, 10], [10, 10], [10, 20]],
            [[0, 10], [10]], [[0, 10, 20]],
        ] as [[[Int64]]]
    )
    func gaps(segments: [[Int64]]) async throws {
        let file = folder.file("out")
        var record = try await leavePart(file)
        record.total = 20
        record.segments = [[0, 10], [10, 20]]
        #expect(record.bounds == [0..<10, 10..<20])
        record.segments = segments
        #expect(record.bounds == nil)
        folder.remove()
    }

    // MARK: Results

    @Test(
        "of several URLs a transport failure counts most, then a status, then a time to come back at",
        arguments: [
            (["75", "22", "1"], 1), (["22", "75"], 22), (["75", "0"], 75), (["1", "75"], 1),
            (["0", "22"], 22), (["1", "22"], 1),
            (["0", "0"], 0),
        ] as [([String], Int32)]
    )
    func precedence(kinds: [String], status: Int32) async throws {
        server.on("/late") { _ in [.respond(.init(503, headers: [("Retry-After", "100000")]))] }
        server.on("/reset") { _ in [.reset] }
        let paths = ["0": "/ok", "1": "/reset", "22": "/status/404", "75": "/late"]
        for kinds in [kinds, kinds.reversed()] {
            let urls = kinds.map { server.baseURL + (paths[$0] ?? "") }
            #expect(try await get(["-j", "1", "-o", "/dev/null"] + urls).status == status, "\(kinds)")
        }
        folder.remove()
    }

    @Test("the user of a Location is shown nowhere")
    func locationUser() async throws {
        server.on("/away") { [server] _ in
            let target = server.baseURL.replacing("http://", with: "http://me:SECRET@") + "/status/404"
            return [.respond(.init(302, headers: [("Location", target)]))]
        }
        let report = folder.file("report")
        let ended = try await get(["-v", "--report", report.path, server.baseURL + "/away"])
        #expect(ended.status == 22 && ended.errors.contains("/status/404"), "\(ended.errors)")
        let text = ended.errors + ended.text + String(decoding: try report.bytes(), as: UTF8.self)
        #expect(!text.contains("SECRET"), "\(text)")
        folder.remove()
    }

    @Test("a DELETE that is done is not sent again to print its answer; a GET is")
    func doneDelete() async throws {
        let list = try ScratchFile(
            "{\"url\": \"\(server.baseURL)/ok?1\", \"method\": \"DELETE\"}\n{\"url\": \"\(server.baseURL)/ok?2\"}\n"
        )
        let state = folder.file("state")
        for _ in 0..<2 {
            #expect(try await get(["--from", list.path, "--state", state.path]).status == 0)
        }
        #expect(server.log.map(\.method).sorted() == ["DELETE", "GET", "GET"])
        list.remove()
        folder.remove()
    }

    @Test(
        "a configuration file has escapes in quotation marks, and -K as the value of an option is no file"
    )
    func configuration() async throws {
        let config = try ScratchFile(
            "data-raw = \"a\\nb\\tc\\\"d\"\nurl = \"\(server.baseURL)/echo\"\n"
        )
        let ended = try await get(["-K", config.path])
        #expect(
            ended.status == 0 && ended.text.contains(#"a\nb\tc\"d"#),
            "\(ended.text) \(ended.errors)"
        )
        let value = try await get(["-d", "-K", server.baseURL + "/echo"])
        #expect(value.status == 0 && value.text.contains("-K"), "\(value.text) \(value.errors)")
        config.remove()
        folder.remove()
    }
}
