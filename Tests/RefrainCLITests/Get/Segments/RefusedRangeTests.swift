// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("The command, and servers that do not understand a range", .timeLimit(.minutes(10)))
struct RefusedRangeTests {
    private let server: FaultServer
    private let folder: ScratchFile
    private let content = (0..<6_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    init() throws {
        server = try FaultServer()
        folder = try ScratchFile()
        try folder.makeFolder()
    }

    /// A response with a part of the content; a cut one ends after 2 MB.
    private func answer(
        _ request: FaultServer.Request,
        status: Int? = nil,
        hasRange: Bool = true,
        cut: Bool = false
    ) -> [FaultServer.Step] {
        let ends = request.header("Range")?.dropFirst(6).split(separator: "-").compactMap { Int($0) } ?? []
        let first = ends.first ?? 0
        let last = ends.count > 1 ? ends[1] : content.count - 1
        var headers = [("ETag", "\"v1\""), ("Content-Length", "\(last + 1 - first)")]
        if !ends.isEmpty, hasRange { headers.append(("Content-Range", "bytes \(first)-\(last)/\(content.count)")) }
        let body = cut ? first..<min(first + 2_000_000, last + 1) : first..<(last + 1)
        return [
            .head(.init(status ?? (ends.isEmpty ? 200 : 206), headers: headers)), .send(Array(content[body])),
        ] + (cut ? [.close] : [])
    }

    private func get(_ words: [String]) async throws -> Executable.Ended {
        try await Executable.run(["get", "--attempts", "4", "--backoff", "constant:5ms"] + words)
    }

    @Test("R11: a part that comes with 200 is never a file", arguments: [[], ["-C"], ["--segments", "4"]])
    func partAsWhole(options: [String]) async throws {
        let isCut = Locked(true)
        server.on("/f") { request in
            let cut = request.header("Range") == nil && isCut.withLock { $0 }
            return answer(request, status: 200, cut: cut)
        }
        let file = folder.file("out")
        let ended = try await get(options + ["-o", file.path, server.baseURL + "/f"])
        #expect(ended.status == 1 && !file.exists, "\(ended.errors)")
        isCut.withLock { $0 = false }
        #expect(try await get(options + ["-o", file.path, server.baseURL + "/f"]).status == 0)
        #expect(try file.bytes() == content && folder.names == ["out"])
        folder.remove()
    }

    @Test(
        "R11: a firewall that refuses every range costs one request, in a list, with -C and with segments",
        arguments: [400, 403, 405, 416, 501]
    )
    func refused(status: Int) async throws {
        server.on("/f") { request in
            guard request.header("Range") == nil else { return [.respond(.init(status))] }
            return answer(request, cut: server.requests(toPath: "/f").count == 1)
        }
        let list = try ScratchFile("\(server.baseURL)/f\n")
        let ended = try await get(["--from", list.path, "--output-dir", folder.path, "--flat"])
        #expect(ended.status == 0 && folder.files.count == 1, "\(ended.errors)")
        #expect(server.requests(toPath: "/f").map { $0.header("Range") } == [nil, "bytes=2000000-", nil])
        server.on("/g") { request in
            request.header("Range") == nil ? answer(request) : [.respond(.init(status))]
        }
        let file = folder.file("out")
        #expect(try await get(["--segments", "4", "-o", file.path, server.baseURL + "/g"]).status == 0)
        #expect(try file.bytes() == content)
        #expect(server.requests(toPath: "/g").map { $0.header("Range") } == ["bytes=0-1048575", nil])
        list.remove()
        folder.remove()
    }

    @Test("R11: a partial file of an earlier run is replaced where ranges are refused now")
    func refusedLater() async throws {
        server.on("/f") { answer($0, cut: true) }
        let file = folder.file("out")
        let words = ["-C", "-o", file.path, server.baseURL + "/f"]
        #expect(try await get(["--attempts", "1"] + words).status == 1)
        #expect(folder.names.contains(".out.part"))
        server.on("/f") { $0.header("Range") == nil ? answer($0) : [.respond(.init(403))] }
        #expect(try await get(words).status == 0)
        #expect(try file.bytes() == content && folder.names == ["out"])
        folder.remove()
    }

    @Test("R11: a server that refuses a second connection is served with one", arguments: [403, 429, 503])
    func oneConnection(status: Int) async throws {
        // One that is quiet for a second has made room, as on a machine that stood still.
        let only = Locked((connection: -1, last: ContinuousClock.now))
        server.on("/f") { request in
            let isOnly = only.withLock { only in
                let now = ContinuousClock.now
                if only.connection < 0 || now - only.last > .seconds(1) { only.connection = request.connection }
                guard request.connection == only.connection else { return false }
                only.last = now
                return true
            }
            return isOnly ? answer(request) : [.respond(.init(status)), .close]
        }
        let file = folder.file("out")
        let ended = try await get(["--segments", "4", "-o", file.path, server.baseURL + "/f"])
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try file.bytes() == content && folder.names == ["out"])
        folder.remove()
    }
}
