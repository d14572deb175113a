// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainQueue
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("Counting the sends of a run")
struct SendCounterTests {
    private let file: ScratchFile
    private let state: ListState
    private let counter: SendCounter
    private let entry: ListEntry

    init() async throws {
        file = try ScratchFile()
        let state = try ListState(path: file.path, option: "--state")
        self.state = state
        let wanted = RequestList.New(name: "POST http://h/", method: "POST", url: "http://h/")
        entry = try #require(try await state.register([wanted], isDurable: true).first ?? nil)
        #expect(try await state.claim([entry]) == [true])
        counter = SendCounter(state)
    }

    /// Notes how many sends the state has when a request leaves.
    private final class Recorder: HTTPLoader {
        let path: String
        let counts = Locked<[Int]>([])

        init(_ path: String) { self.path = path }

        func load(_ request: HTTPRequest) async -> HTTPResult {
            let attempts = (try? StateFile.read(path).entries.first?.attempts) ?? -1
            counts.withLock { $0.append(attempts) }
            return .failure(HTTPError(.networkConnectionLost, request: request))
        }

        func reset() async {}
    }

    private func request(_ count: SendCounter.Count?) throws -> HTTPRequest {
        var request = try HTTPRequest("http://h/", method: .post)
        request.sendCount = count
        return request
    }

    private func remove() {
        for ending in ["", "-wal", "-shm", "-lock"] { ScratchFile.at(file.path + ending).remove() }
    }

    @Test("R5: a send of a request that must not be done twice is in the state before the request leaves")
    func atOnce() async throws {
        let count = counter.begin(entry, writesAtOnce: true)
        let recorder = Recorder(file.path)
        for _ in 1...3 { _ = await counter.load(try request(count), next: recorder) }
        #expect(recorder.counts.withLock { $0 } == [1, 2, 3])
        #expect(counter.take().isEmpty)
        #expect(counter.end(count) == 3)
        remove()
    }

    @Test("the sends of other requests are taken once, each of them")
    func taken() async throws {
        let count = counter.begin(entry, writesAtOnce: false)
        let recorder = Recorder(file.path)
        #expect(counter.take().isEmpty)
        for _ in 1...2 { _ = await counter.load(try request(count), next: recorder) }
        #expect(recorder.counts.withLock { $0 } == [0, 0])
        let taken = counter.take()
        #expect(taken.map(\.count) == [2] && taken.map(\.entry.identity) == [entry.identity])
        #expect(counter.take().isEmpty)
        _ = await counter.load(try request(count), next: recorder)
        // Those that were not taken are in the row that the end writes.
        #expect(counter.end(count) == 2 && counter.take().isEmpty)
        remove()
    }

    @Test("a first send that the state has counted before is not counted again", arguments: [false, true])
    func first(isTakenBefore: Bool) async throws {
        try await state.begin(entry, at: 1_000_000)
        let count = counter.begin(entry, writesAtOnce: true)
        count.noteFirst()
        // The rows of other requests may be written before the request is sent.
        if isTakenBefore { #expect(counter.take().isEmpty) }
        let recorder = Recorder(file.path)
        for _ in 1...2 { _ = await counter.load(try request(count), next: recorder) }
        #expect(recorder.counts.withLock { $0 } == [1, 2])
        #expect(counter.end(count) == 2)
        remove()
    }

    @Test("R37: what waits for its next attempt when a run is killed is not what ended the run")
    func rests() async throws {
        func claims() throws -> Int? { try StateFile.read(file.path).entries.first?.claims }
        let recorder = Recorder(file.path)
        let count = counter.begin(entry, writesAtOnce: true)
        _ = await counter.load(try request(count), next: recorder)
        #expect(try claims() == 1 && counter.takeRests().isEmpty)
        count.rest()
        try await state.add(counter.takeRests())
        #expect(try claims() == 0 && counter.takeRests().isEmpty)
        _ = await counter.load(try request(count), next: recorder)
        #expect(try claims() == 1)
        _ = counter.end(count)
        // Of others it is written with the rows, and not where nothing said that they were under way.
        let other = counter.begin(entry, writesAtOnce: false)
        _ = await counter.load(try request(other), next: recorder)
        other.rest()
        #expect(counter.takeRests().isEmpty)
        #expect(counter.take().map(\.claims) == [0])
        remove()
    }

    @Test("R5: a request that must not be done twice is not sent where its send cannot be written")
    func unwritable() async throws {
        let recorder = Recorder(file.path)
        try Database(path: file.path).run("DROP TABLE refrain_request")
        let kept = await counter.load(try request(counter.begin(entry, writesAtOnce: true)), next: recorder)
        guard case .failure(let error) = kept else { return #expect(Bool(false), "it was sent") }
        #expect(error.code == .cannotWriteToFile && error.bytesSent == 0)
        #expect(recorder.counts.withLock { $0.isEmpty })
        // Others are sent all the same, and so is one without a row.
        for count in [counter.begin(entry, writesAtOnce: false), nil] {
            _ = await counter.load(try request(count), next: recorder)
        }
        #expect(recorder.counts.withLock { $0.count } == 2)
        remove()
    }
}
