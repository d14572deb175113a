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

@Suite("Pipes with names")
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

    @Test("a signal ends what waits for the reader of a pipe", arguments: [Int32(2), 15])
    func noReader(signal: Int32) async throws {
        let (list, output) = (try ScratchFile.pipe(), try ScratchFile.pipe())
        let running = try Executable.start(["get", "--from", list.path, "-o", output.path])
        await list.write(server.baseURL + "/ok")
        running.signal(signal)
        #expect(await running.end().status == 130)
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
        #expect(ended.status == 130 && ended.errors.isEmpty, "\(ended.status) \(ended.errors)")
        close(writer)
        pipe.remove()
    }
}
