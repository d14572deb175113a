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

@Suite("Pipes with names", .timeLimit(.minutes(10)))
struct PipeTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    @Test("a body from a pipe arrives whole, every time")
    func body() async throws {
        for round in 1...8 {
            let pipe = try ScratchFile.pipe()
            let running = try Executable.start(["get", "-d", "@" + pipe.path, server.baseURL + "/echo"])
            async let written: Void = pipe.write("payload")
            let ended = await running.end()
            #expect(ended.text.contains(#""body":"payload""#), "in round \(round): \(ended.text)\(ended.errors)")
            pipe.release()
            await written
            pipe.remove()
        }
    }

    @Test("a content that goes to a pipe arrives whole, every time")
    func content() async throws {
        for round in 1...8 {
            let pipe = try ScratchFile.pipe()
            let running = try Executable.start(["get", "-o", pipe.path, server.baseURL + "/ok"])
            async let text = pipe.read()
            let ended = await running.end()
            #expect(ended.status == 0, "in round \(round): \(ended.errors)")
            pipe.release()
            #expect(await text == "ok\n")
            pipe.remove()
        }
    }

    @Test("a reader of a named pipe who leaves early is a failure: no pipeline tells of it")
    func readerLeaves() async throws {
        let pipe = try ScratchFile.pipe()
        let running = try Executable.start(["get", "-o", pipe.path, server.baseURL + "/bytes/3000000"])
        let line = "head -c 10 '\(pipe.path)' >/dev/null"
        #expect(try await Executable.run(["-c", line], program: "/bin/sh").status == 0)
        let ended = await running.end()
        #expect(ended.status == 1 && ended.errors.contains("cannot write"), "\(ended.status) \(ended.errors)")
        pipe.remove()
    }

    @Test("a list from a pipe is fetched from its first line on, and its bad lines are named and left out")
    func listFromPipe() async throws {
        let url = server.baseURL
        let line =
            "{ echo '\(url)/ok?1'; read go <\"$2\"; echo nonsense; echo '\(url)/ok?2'; } | "
            + "\"$1\" get --from - --report \"$3\""
        let (pipe, report) = (try ScratchFile.pipe(), try ScratchFile())
        let running = try Executable.start(
            ["-c", line, "sh", Executable.path, pipe.path, report.path],
            program: "/bin/sh"
        )
        // The first request arrives while the list is still open.
        await server.requests(atLeast: 1, toPath: "/ok?1")
        await pipe.write("go\n")
        let ended = await running.end()
        #expect(ended.text == "ok\nok\n" && ended.status == 2, "\(ended.status) \(ended.errors)")
        #expect(ended.errors.contains("standard input:2: \"nonsense\""), "\(ended.errors)")
        #expect(try report.bytes().count { $0 == UInt8(ascii: "\n") } == 2)
        pipe.remove()
        report.remove()
    }

    @Test("options for one URL take it from a pipe as before")
    func oneURLFromPipe() async throws {
        let file = try ScratchFile()
        let line = "echo '\(server.baseURL)/ok' | \"$1\" get --from - -o \"$2\""
        let ended = try await Executable.run(["-c", line, "sh", Executable.path, file.path], program: "/bin/sh")
        #expect(try ended.status == 0 && file.bytes() == Array("ok\n".utf8), "\(ended.errors)")
        file.remove()
    }

    @Test("a signal ends what waits for the reader of a pipe", arguments: [Int32(2), 15])
    func noReader(signal: Int32) async throws {
        let (list, output) = (try ScratchFile.pipe(), try ScratchFile.pipe())
        let running = try Executable.start(["get", "--from", list.path, "-o", output.path])
        await list.write(server.baseURL + "/ok")
        running.signal(signal)
        #expect(await running.end().status == -signal)
        list.remove()
        output.remove()
    }

    @Test("a signal ends what waits for the writer of a pipe, and it is no wrong usage", arguments: ["--from", "-d"])
    func noWriter(option: String) async throws {
        let pipe = try ScratchFile.pipe()
        let path = option == "-d" ? "@" + pipe.path : pipe.path
        let running = try Executable.start(["get", option, path, server.baseURL + "/ok"])
        let writer = await pipe.openAndWrite("")
        running.signal(15)
        let ended = await running.end()
        #expect(ended.status == -15 && ended.errors.isEmpty, "\(ended.status) \(ended.errors)")
        close(writer)
        pipe.remove()
    }
}
