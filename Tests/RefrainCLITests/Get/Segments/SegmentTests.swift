// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
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

@Suite("Segments of a file", .timeLimit(.minutes(10)))
struct SegmentTests {
    private let server: FaultServer
    private let folder: ScratchFile

    init() throws {
        server = try FaultServer()
        folder = try ScratchFile()
        try folder.makeFolder()
    }

    private func words(_ path: String, _ more: [String] = []) -> [String] {
        [
            "get", "--backoff", "constant:5ms", "--attempts", "5", "--no-budget", server.baseURL + path, "-o",
            folder.file("big").path,
        ] + more
    }

    /// A content whose bytes on the wire are counted, and whose connections break.
    private func serve(_ path: String, _ source: Source) {
        server.on(path) { source.answer($0) }
    }

    @Test(
        "R11: 50 MB in 8 segments, each connection cut after 2 MB: under 1.02 times the bytes, and the source's digest"
    )
    func cut() async throws {
        let source = Source(size: 50_000_000, cut: 2_000_000)
        serve("/big", source)
        let words = words("/big", ["--segments", "8", "--sha256", source.sha256, "--report", "-"])
        let ended = try await Executable.run(words)
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(folder.names == ["big"])
        #expect(source.sent < source.size * 102 / 100, "\(source.sent) bytes were sent")
        // Each cut is one attempt more, of one segment alone.
        let requests = server.requests(toPath: "/big").count
        #expect((33 + 15...33 + 40).contains(requests), "\(requests) requests")
        #expect(ended.text.contains(#""bytes":50000000"#) && ended.text.contains(#""number":\#(requests),"#))
        folder.remove()
    }

    @Test("R11: killed again and again, the segments go on where they were")
    func killed() async throws {
        // Slow enough that little is on its way when the process is killed.
        let source = Source(size: 50_000_000, cut: 2_000_000, pause: .milliseconds(8))
        serve("/big", source)
        let words = words("/big", ["--segments", "8", "-q", "--sha256", source.sha256])
        var (kills, ended) = (0, Executable.Ended?.none)
        while kills < 20, ended == nil {
            let running = try Executable.start(words)
            let time = Int32(300 + kills * 37 % 200)
            let isKilled = await Executable.Running.onThread { () -> Bool in
                poll(nil, 0, time)
                return kill(running.pid, SIGKILL) == 0
            }
            let end = await running.end()
            if isKilled, end.status == -SIGKILL { kills += 1 } else { ended = end }
        }
        if ended == nil { ended = try await Executable.run(words) }
        #expect(ended?.status == 0 && kills > 1, "\(kills) kills, \(ended?.errors ?? "")")
        #expect(folder.names == ["big"], "\(folder.names)")
        // What was on its way to eight connections at each kill is lost: two slices of 16 KB, and what a socket holds.
        let limit = source.size * 102 / 100 + kills * 8 * 65_536
        #expect(source.sent < limit, "\(source.sent) bytes were sent, \(kills) kills")
        folder.remove()
    }

    @Test("a run without --segments goes on with the segments of an earlier one")
    func mixed() async throws {
        let source = Source(size: 8_000_000, cut: .max)
        let isStalled = Locked(true)
        server.on("/big") { request in
            let first = request.header("Range").flatMap { Int($0.dropFirst(6).prefix { $0.isNumber }) } ?? 0
            return first > 4_000_000 && isStalled.withLock { $0 } ? [.hang] : source.answer(request)
        }
        let running = try Executable.start(words("/big", ["--segments", "4", "-q"]))
        // Eight segments of a megabyte: those of the first half are there, and the others were asked for.
        await server.requests(atLeast: 8)
        running.signal(SIGKILL)
        _ = await running.end()
        #expect(folder.names == [".big.part", ".big.part.json", ".big.part.segments"])
        isStalled.withLock { $0 = false }
        let ended = try await Executable.run(words("/big", ["-C", "--sha256", source.sha256]))
        #expect(ended.status == 0 && ended.errors.contains("goes on with"), "\(ended.errors)")
        #expect(folder.names == ["big"])
        #expect(source.sent < source.size + 1_000_000, "\(source.sent) bytes were sent")
        folder.remove()
    }

    @Test("R11: a content that changes on the way comes as a whole, and no byte of the old one is in it")
    func changed() async throws {
        let (old, new) = (Source(size: 9_000_000, cut: .max, seed: 1), Source(size: 9_000_000, cut: .max, seed: 2))
        let count = Locked(0)
        server.on("/big") { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return (number <= 3 ? old : new).answer(request)
        }
        let ended = try await Executable.run(words("/big", ["--segments", "4", "--sha256", new.sha256]))
        #expect(ended.status == 0 && folder.names == ["big"], "\(ended.errors)")
        folder.remove()
    }

    @Test("R20: the deadline counts from the beginning also where the content has changed and comes as a whole")
    func changedLate() async throws {
        let (old, new) = (Source(size: 9_000_000, cut: .max, seed: 1), Source(size: 9_000_000, cut: .max, seed: 2))
        server.on("/big") { request in
            guard let range = request.header("Range") else { return [.hang] }
            return range.contains("=0-") ? [.sleep(.seconds(10))] + old.answer(request) : new.answer(request)
        }
        let start = ContinuousClock.now
        let ended = try await Executable.run(words("/big", ["--segments", "4", "--deadline", "12s"]))
        // Counted anew it would end after 22 s.
        #expect(ended.status == 1 && start.duration(to: .now) < .seconds(20), "\(ended.errors)")
        folder.remove()
    }

    @Test("R20: the wait for --pace before the first segment takes nothing of the deadline")
    func paced() async throws {
        let source = Source(size: 1_500_000, cut: .max)
        for name in 1...6 { serve("/\(name)", source) }
        let list = try ScratchFile((1...6).map { "\(server.baseURL)/\($0)\n" }.joined())
        let ended = try await Executable.run([
            "get", "--from", list.path, "--output-dir", folder.path, "--segments", "2", "--pace", "2/s", "--deadline",
            "4500ms",
        ])
        #expect(ended.status == 0 && folder.files.count == 6, "\(ended.errors)")
        list.remove()
        folder.remove()
    }

    @Test("a file in segments that is larger than --max-filesize is refused by its first response")
    func tooLarge() async throws {
        let source = Source(size: 9_000_000, cut: .max)
        serve("/big", source)
        let ended = try await Executable.run(words("/big", ["--segments", "2", "--max-filesize", "8000000"]))
        #expect(ended.status == 1 && ended.errors.contains("larger than 8000000 bytes"), "\(ended.errors)")
        #expect(server.requests(toPath: "/big").count == 1 && folder.names.isEmpty)
        folder.remove()
    }

    @Test("R33: segments go on behind a redirect whose signed URLs expire")
    func expired() async throws {
        let source = Source(size: 9_000_000, cut: .max)
        let uses = Locked<[String: Int]>([:])
        server.on("/start") { _ in
            let signature = server.requests(toPath: "/start").count
            return [.respond(.init(302, headers: [("Location", "/big?X-Amz-Signature=\(signature)")]))]
        }
        server.on("/big") { request in
            let isValid = uses.withLock { uses in
                uses[request.target, default: 0] += 1
                return uses[request.target, default: 0] <= 3
            }
            return isValid ? source.answer(request) : [.respond(.init(403))]
        }
        let ended = try await Executable.run(words("/start", ["--segments", "2", "--sha256", source.sha256]))
        #expect(ended.status == 0 && folder.names == ["big"], "\(ended.errors)")
        #expect(source.sent < source.size + 1_000_000, "\(source.sent) bytes were sent")
        folder.remove()
    }

    @Test(
        "a server without ranges or without a strong validator, and contents of a few bytes or none, come as a whole",
        arguments: [
            "/bytes/3000000?no-range", "/bytes/3000000?etag=weak&last-modified=none",
            "/bytes/3000000?etag=none&last-modified=now", "/bytes/3000000?multipart-range", "/bytes/3000000?chunked",
            "/bytes/1", "/bytes/0", "/bytes/1048576", "/bytes/1048577", "/bytes/3000000?wrong-range",
        ]
    )
    func whole(path: String) async throws {
        let length = Int(path.dropFirst(7).prefix { $0.isNumber }) ?? 0
        let source = try await Executable.run(["get", "\(server.baseURL)/bytes/\(length)"])
        let ended = try await Executable.run(words(path, ["--segments", "4"]))
        #expect(ended.status == 0 && folder.names == ["big"], "\(ended.errors)")
        #expect(try folder.file("big").bytes() == source.output)
        folder.remove()
    }

    @Test("a segment that fails for good ends the command, and what has come is kept")
    func failure() async throws {
        let source = Source(size: 6_000_000, cut: .max)
        server.on("/big") { request in
            let isLast = request.header("Range")?.hasSuffix("-5999999") == true
            return isLast ? [.respond(.init(403))] : source.answer(request)
        }
        let ended = try await Executable.run(words("/big", ["--segments", "2"]))
        #expect(ended.status == 22 && ended.errors.contains("403"), "\(ended.errors)")
        #expect(folder.names == [".big.part", ".big.part.json", ".big.part.segments"])
        serve("/big", source)
        #expect(try await Executable.run(words("/big", ["--segments", "2", "--sha256", source.sha256])).status == 0)
        #expect(folder.names == ["big"])
        folder.remove()
    }

    @Test(
        "R11: of a partial file that was shortened, the segments behind its end are fetched again; a longer one is none",
        arguments: [0, 1, 4, 7]
    )
    func shortened(megabytes: Int) async throws {
        let source = Source(size: 6_000_000, cut: .max)
        server.on("/big") { request in
            let isLast = request.header("Range")?.hasSuffix("-5999999") == true
            return isLast ? [.respond(.init(403))] : source.answer(request)
        }
        #expect(try await Executable.run(words("/big", ["--segments", "2"])).status == 22)
        truncate(folder.file(".big.part").path, megabytes << 20)
        serve("/big", source)
        let ended = try await Executable.run(words("/big", ["--segments", "2"]))
        #expect(ended.status == 0 && folder.names == ["big"], "\(ended.errors)")
        #expect(try folder.file("big").bytes() == Source.bytes(0, source.size, 0))
        folder.remove()
    }

    @Test("segments lie side by side, from the first byte to the last")
    func bounds() {
        var cases = [(1, 1, 4), (1 << 20, 1 << 20, 4), (50_000_000, 1 << 20, 8), (3 << 20, 1 << 20, 64)]
        cases += (0..<3).map { (Int.max - $0, 1 << 20, 4) }
        for (total, first, connections) in cases {
            let bounds = SegmentTable.bounds(total: Int64(total), first: Int64(first), connections: connections)
            #expect(bounds.first?.lowerBound == 0 && bounds.last?.upperBound == Int64(total))
            #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
            #expect(bounds.count <= 1 + 4 * connections && bounds.allSatisfy { !$0.isEmpty })
        }
    }

    @Test("after a crash of the system only the positions count that were on the disk; what does not fit is not used")
    func positions() throws {
        let path = folder.file("positions").path
        let bounds: [Range<Int64>] = [0..<10, 10..<30]
        var table = try SegmentTable(path: path, bounds: bounds)
        try table.advance(0, by: 10)
        try table.advance(1, by: 5)
        try table.noteSynced([10, 12])
        try table.advance(1, by: 4)
        table.end()
        let read = try #require(SegmentTable(reading: path, bounds: bounds, isSameBoot: true))
        #expect(read.segments == table.segments && read.size == 19)
        read.end()
        let crashed = try #require(SegmentTable(reading: path, bounds: bounds, isSameBoot: false))
        #expect(crashed.segments.map(\.position) == [10, 12])
        crashed.end()
        var whole = table
        whole.fetchLastByteAgain()
        #expect(whole.segments == table.segments)
        whole = try SegmentTable(path: path + "2", bounds: [0..<10])
        try whole.advance(0, by: 10)
        whole.fetchLastByteAgain()
        whole.end()
        #expect(whole.segments.map(\.position) == [9])
        #expect(SegmentTable(reading: path, bounds: [0..<10, 10..<15], isSameBoot: true) == nil)
        #expect(SegmentTable(reading: path, bounds: [0..<30], isSameBoot: true) == nil)
        #expect(SegmentTable(reading: path + "x", bounds: bounds, isSameBoot: true) == nil)
        folder.remove()
    }
}

/// A content with a strong validator and ranges, whose connections break after so many bytes.
private struct Source: Sendable {
    let size: Int
    let cut: Int
    let seed: UInt8
    let pause: Duration
    private let state = Locked(State())

    private struct State {
        var sent = 0
        var left: [Int: Int] = [:]
    }

    init(size: Int, cut: Int, pause: Duration = .zero, seed: UInt8 = 0) {
        (self.size, self.cut, self.pause, self.seed) = (size, cut, pause, seed)
    }

    /// The bytes of contents that were written to sockets.
    var sent: Int { state.withLock { $0.sent } }

    /// Every byte depends on its position, and no two ranges of a kilobyte are the same.
    static func bytes(_ offset: Int, _ count: Int, _ seed: UInt8) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var index = 0
            while index < count {
                let position = offset &+ index
                let mixed = position &* 31 &+ position >> 8 &* 17 &+ position >> 16
                buffer[index] = UInt8(truncatingIfNeeded: mixed) &+ seed
                index &+= 1
            }
            filled = count
        }
    }

    var sha256: String {
        let computation = ContentDigest.Computation(.sha256)
        for offset in stride(from: 0, to: size, by: 1 << 20) {
            Self.bytes(offset, min(1 << 20, size - offset), seed).withUnsafeBytes { computation.update($0) }
        }
        return ContentDigest.hex(computation.finish())
    }

    func answer(_ request: FaultServer.Request) -> [FaultServer.Step] {
        let tag = "\"\(size)-\(seed)\""
        var range = 0..<size
        let condition = request.header("If-Range")
        let ends = request.header("Range")?.dropFirst(6).split(separator: "-").compactMap { Int($0) } ?? []
        let isPart = !ends.isEmpty && (condition == nil || condition == tag)
        if isPart { range = ends[0]..<min(size, (ends.count > 1 ? ends[1] : size - 1) + 1) }
        var headers = [("ETag", tag), ("Content-Length", "\(range.count)"), ("Accept-Ranges", "bytes")]
        if isPart { headers.append(("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")) }
        let allowed = state.withLock { state in
            let left = state.left[request.connection, default: cut]
            let allowed = min(left, range.count)
            state.left[request.connection] = left - allowed
            return allowed
        }
        let first = range.lowerBound
        var generator = FaultServer.Generator(count: allowed) { offset, count in
            state.withLock { $0.sent += count }
            return Self.bytes(first + offset, count, seed)
        }
        generator.slice = 16_384
        generator.pause = pause
        let end: [FaultServer.Step] = allowed < range.count ? [.close] : []
        return [.head(.init(isPart ? 206 : 200, headers: headers)), .generate(generator)] + end
    }
}
