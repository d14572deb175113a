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

@Suite("What the workers of a run share")
struct RunBoardTests {
    private let folder: ScratchFile

    init() throws {
        folder = try ScratchFile()
        mkdir(folder.path, 0o700)
    }

    private func settings(_ urls: [String], _ words: [String] = []) throws -> GetSettings {
        let spec = CommandSpec.named(.get)
        let arguments = try Arguments(urls + ["--output-dir", folder.path] + words, options: spec.options)
        return try GetSettings(arguments)
    }

    private func queue(_ settings: GetSettings) throws -> JobQueue {
        var settings = settings
        let (jobs, requests) = settings.takeJobs()
        return try JobQueue(settings, unplanned: jobs, requests: requests)
    }

    private func urls(_ count: Int) -> [String] { (0..<count).map { "http://h/\($0 % 700).bin" } }

    private func outcome(_ job: RunBoard.Job) throws -> FetchOutcome {
        let error = HTTPError(.cancelled, request: try HTTPRequest(job.job.request.url), bytesSent: 0)
        return FetchOutcome(index: job.number, url: job.job.request.url, method: "GET", result: .failure(error))
    }

    @Test("the jobs of a long list are made in parts, and what stands in it twice is one job", arguments: [100, 1000])
    func parts(count: Int) async throws {
        let settings = try settings(urls(count))
        var queue = try queue(settings)
        var files: [String?] = []
        let plan = try RunPlan(settings)
        while let part = queue.takeUnplanned() {
            queue.add(try await part.planned(by: plan).get())
            while let (job, number) = queue.next() {
                #expect(number == files.count)
                files.append(job.name)
            }
        }
        #expect(files == (0..<min(count, 700)).map { "h+80/\($0).bin" })
        #expect(queue.count == files.count && !queue.wantsPart)
        folder.remove()
    }

    @Test("a list is looked at as a whole first where it is short, or a line of it may be refused")
    func whole() throws {
        func waits(_ count: Int, _ words: [String] = []) throws -> Bool {
            var settings = try settings(urls(count), words)
            return !settings.takeJobs().1.isEmpty
        }
        #expect(try waits(600) && !waits(200))
        #expect(try waits(600, ["--report", folder.path + ".txt"]))
        #expect(try !waits(600, ["--report", folder.path + "/h+80.txt"]))
        #expect(throws: UsageError.self) { try waits(600, ["--report", folder.path + "/h+80/5.bin"]) }
        folder.remove()
    }

    @Test("a worker gets one job after the other, up to the number that may begin, and each outcome is taken in")
    func workers() async throws {
        let settings = try settings(urls(10))
        var queue = try queue(settings)
        let taken = queue.takeUnplanned()
        let part = try #require(taken)
        queue.add(try await part.planned(by: RunPlan(settings)).get())
        let board = RunBoard(queue, workers: 2)
        #expect(board.allow(below: 3) == 2 && board.isWorking && !board.isIdle)
        let first = try #require(board.next(after: nil, isCancelled: false))
        let second = try #require(board.next(after: nil, isCancelled: false))
        let third = try #require(board.next(after: .outcome(try outcome(first)), isCancelled: false))
        #expect([first.number, second.number, third.number] == [0, 1, 2])
        #expect(board.next(after: .outcome(try outcome(second)), isCancelled: false) == nil)
        #expect(board.allow(below: 5) == 1)
        #expect(board.next(after: .outcome(try outcome(third)), isCancelled: true) == nil)
        #expect(board.isWorking)
        #expect(board.next(after: nil, isCancelled: true) == nil)
        #expect(!board.isWorking && !board.isIdle)
        var numbers: [Int] = []
        for case .fetched(let outcome) in await board.events() { numbers.append(outcome.index) }
        #expect(numbers == [0, 1, 2] && board.isIdle)
        folder.remove()
    }

    @Test("R37: the result of a request that the state counts as under way is written at once")
    func atOnce() async throws {
        let settings = try settings(urls(5))
        let file = try #require(settings.state.file)
        var plan = try RunPlan(settings)
        var queue = try queue(settings)
        let taken = queue.takeUnplanned()
        let part = try #require(taken)
        queue.add(try await part.planned(by: plan).get())
        for count in 1...5 {
            let next = queue.next()
            let (job, number) = try #require(next)
            let response = HTTPResponse(request: try HTTPRequest(job.request.url), status: .ok)
            var outcome = FetchOutcome(index: number, url: job.request.url, method: "GET", result: .success(response))
            (outcome.job, outcome.isWrittenAtOnce) = (job, true)
            _ = try await plan.note(outcome)
            #expect(try StateFile.read(file).entries.filter { $0.outcome == .done }.count == count)
        }
        folder.remove()
    }

    @Test("R37: the run is told at once that a request waits for its next attempt, also if it is the only one")
    func rests() async throws {
        let server = try FaultServer()
        let settings = try settings(
            [server.baseURL + "/status/503"],
            ["--attempts", "3", "--backoff", "constant:1ms", "--quiet"]
        )
        let plan = try RunPlan(settings)
        var queue = try queue(settings)
        let taken = queue.takeUnplanned()
        let part = try #require(taken)
        queue.add(try await part.planned(by: plan).get())
        let board = RunBoard(queue, workers: 1)
        #expect(board.allow(below: 1) == 1)
        let progress = Progress(settings, StatusLine())
        let fetcher = Fetcher(settings, streams: [:], state: plan.state, quota: nil, progress: progress)
        await fetcher.fetchJobs(of: board, by: 0)
        var rests = 0
        for case .rested in await board.events() { rests += 1 }
        #expect(rests == 2 && server.requests(toPath: "/status/503").count == 3)
        folder.remove()
    }

    @Test("of requests that went well a quiet run takes in rows alone, many at a time or when something else happens")
    func rows() async throws {
        let settings = try settings(urls(200))
        var queue = try queue(settings)
        let taken = queue.takeUnplanned()
        let part = try #require(taken)
        queue.add(try await part.planned(by: RunPlan(settings)).get())
        let board = RunBoard(queue, workers: 32, isQuiet: true)
        #expect(board.allow(below: 200) == 32)
        let taking = Task { await board.events() }
        var ending: RunBoard.Ending?
        for _ in 0..<64 {
            let job = try #require(board.next(after: ending, isCancelled: false))
            let response = HTTPResponse(request: try HTTPRequest(job.job.request.url), status: .ok)
            var outcome = FetchOutcome(index: job.number, url: "", method: "GET", result: .success(response))
            outcome.job = job.job
            ending = board.ending(of: outcome)
            outcome.bytes = 2 << 20
            guard case .outcome = board.ending(of: outcome), case .row = ending else {
                Issue.record("a large content is to be noted at once, a small one is not")
                return
            }
            (outcome.bytes, outcome.isWrittenAtOnce) = (0, true)
            guard case .outcome = board.ending(of: outcome) else {
                Issue.record("what the state says is under way is to be noted at once")
                return
            }
        }
        #expect(!board.isIdle)
        let job = try #require(board.next(after: ending, isCancelled: false))
        var rows: [ListEntry] = []
        for case .noted(let taken) in await taking.value { rows += taken }
        // On a busy machine the first ones are taken before the last ones come.
        while rows.count < 64 {
            for case .noted(let taken) in await board.events() { rows += taken }
        }
        #expect(rows.count == 64 && Set(rows.map(\.identity)).count == 64)
        #expect(rows.allSatisfy { $0.outcome == .done && $0.status == 200 })
        // A failure is told at once, and one row is taken in with it.
        _ = board.next(after: ending, isCancelled: false)
        let failed = board.ending(of: try outcome(job))
        _ = board.next(after: failed, isCancelled: false)
        var events = 0
        for event in await board.events() {
            switch event {
            case .noted(let rows): events += rows.count
            case .fetched: events += 10
            default: break
            }
        }
        #expect(events == 11)
        folder.remove()
    }
}
