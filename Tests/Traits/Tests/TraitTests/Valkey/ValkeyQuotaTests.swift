// SPDX-License-Identifier: Apache-2.0
#if Valkey
import Foundation
import Logging
import RefrainCore
import RefrainHTTP
import RefrainValkey
import Testing
import Valkey

/// A server of its own on a Unix socket in a temporary folder, Valkey's or Redis'.
private final class Server {
    static let program = ["valkey-server", "redis-server"]
        .flatMap { name in ["/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + name } }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "refrain-\(UUID().uuidString.prefix(8))")
    private var process = Process()

    var socket: String { folder.appending(path: "s").path }
    var address: ValkeyServerAddress { .unixDomainSocket(path: socket) }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try start()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    func start() throws {
        process = Process()
        process.executableURL = URL(filePath: try #require(Self.program))
        process.arguments = ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder.path]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
    }

    func kill() {
        _ = Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func signal(_ signal: Int32) { _ = Foundation.kill(process.processIdentifier, signal) }
}

@Suite(
    "A quota in Valkey or Redis",
    .serialized,
    .enabled(if: Server.program != nil, "neither valkey-server nor redis-server is installed"),
    .timeLimit(.minutes(2))
)
struct ValkeyQuotaTests {
    private typealias Quota = ValkeyQuota<ValkeyClient>

    /// Runs as many clients as there are processes, each with a store, as soon as the server answers.
    private func withStores(
        _ count: Int,
        of server: Server,
        _ body: ([Quota], ValkeyClient) async throws -> Void
    ) async throws {
        let configuration = ValkeyClientConfiguration(commandTimeout: .milliseconds(500))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let clients = (0..<count).map { _ in
            ValkeyClient(server.address, configuration: configuration, logger: logger)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients { group.addTask { await client.run() } }
            while (try? await clients[0].ping()) == nil { try await Task.sleep(for: .milliseconds(10)) }
            try await body(clients.map { ValkeyQuota($0) }, clients[0])
            group.cancelAll()
        }
    }

    @Test("R38: the permits of several processes are one after the other, and a hold is one of all")
    func permits() async throws {
        let server = try Server()
        try await withStores(2, of: server) { quotas, client in
            let (a, b) = (quotas[0], quotas[1])
            // The first call of each process also opens its connection.
            for quota in quotas { _ = try await quota.book("warm", rate: 1, wanted: 0, hold: .zero) }
            let first = try await a.book("k", rate: 100, wanted: 5, hold: .zero)
            let second = try await b.book("k", rate: 100, wanted: 5, hold: .zero)
            #expect(first.permits == 5 && second.permits == 5 && first.members == 1 && second.members == 2)
            // Five permits at 100 a second are 50 ms, less the time between the calls.
            #expect(first.start == .zero && second.start > .zero && second.start <= .milliseconds(50), "\(second)")
            #expect(try await a.book("k", rate: 100, wanted: 500, hold: .zero).permits == 500)
            let none = try await b.book("k", rate: 100, wanted: 1, hold: .zero)
            #expect(none.permits == 0 && none.start > .seconds(3) && none.members == 2, "\(none)")
            #expect(try await b.book("other", rate: 100, wanted: 1, hold: .zero).permits == 1)
            #expect(try await a.book("other", rate: 100, wanted: 0, hold: .seconds(20)).permits == 0)
            let held = try await b.book("other", rate: 100, wanted: 1, hold: .zero)
            #expect(held.permits == 0 && held.start > .seconds(18), "\(held)")
            // What is not used any more goes by itself.
            let life = try await client.pttl("refrain:quota:other")
            #expect((25_000...30_000).contains(life), "\(life)")
        }
    }

    @Test("R38: numbers that another program has written into the hash end no process")
    func foreignNumbers() async throws {
        let server = try Server()
        try await withStores(1, of: server) { quotas, client in
            for text in ["1e300", "inf", "nan", "-1e300", "none"] {
                try await client.hset(ValkeyKey("refrain:quota:\(text)"), data: [.init(field: "due", value: text)])
                // An error counts as a store out of reach.
                guard let grant = try? await quotas[0].book(text, rate: 100, wanted: 1, hold: .zero) else { continue }
                #expect(grant.members == 1 && grant.start >= .zero, "\(text): \(grant)")
            }
        }
    }

    @Test("R38: a server's clock that was set back stops nothing, and shortens no hold")
    func clock() async throws {
        let server = try Server()
        try await withStores(1, of: server) { quotas, client in
            for (key, hold, limits) in [("free", 0.1, 0.0..<5), ("held", 60, 45..<65)] {
                // As if all was booked by a clock that was an hour ahead.
                let ahead = Date().timeIntervalSince1970 + 3600
                try await client.hset(
                    ValkeyKey("refrain:quota:\(key)"),
                    data: [
                        .init(field: "due", value: "\((ahead + hold) * 1000)"),
                        .init(field: "slot", value: "\(Int(ahead / 2))"),
                    ]
                )
                for _ in 0..<2 {
                    let grant = try await quotas[0].book(key, rate: 100, wanted: 1, hold: .zero)
                    #expect(limits.contains(grant.start / .seconds(1)), "\(grant)")
                }
            }
        }
    }

    @Test("R38: a cancelled booking does not end the bookings of others on its connection")
    func cancellation() async throws {
        let server = try Server()
        try await withStores(1, of: server) { quotas, _ in
            let quota = quotas[0]
            _ = try await quota.book("k", rate: 100, wanted: 1, hold: .zero)
            server.signal(SIGSTOP)
            let cancelled = Task { try await quota.book("k", rate: 100, wanted: 1, hold: .zero) }
            let other = Task { try await quota.book("other", rate: 100, wanted: 1, hold: .zero) }
            try await Task.sleep(for: .milliseconds(50))
            cancelled.cancel()
            try await Task.sleep(for: .milliseconds(50))
            server.signal(SIGCONT)
            #expect(try await other.value.permits == 1)
        }
    }

    @Test("R38: the limit of several processes holds while the store is flushed, killed and started again")
    func faults() async throws {
        let server = try Server()
        let sent = Box<[ContinuousClock.Instant]>([])
        struct Transport: HTTPLoader {
            let sent: Box<[ContinuousClock.Instant]>
            func load(_ request: HTTPRequest) async -> HTTPResult {
                sent.withLock { $0.append(.now) }
                return .success(HTTPResponse(request: request, status: 200))
            }
        }
        try await withStores(4, of: server) { quotas, client in
            let began = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for quota in quotas {
                    let loader = Pacer(.per(.seconds(1), requests: 200), quota: quota) --> Transport(sent: sent)
                    for _ in 0..<100 {
                        group.addTask {
                            while ContinuousClock.now - began < .seconds(12) {
                                _ = try await loader.load(HTTPRequest("http://localhost/")).get()
                            }
                        }
                    }
                }
                try await Task.sleep(for: .seconds(3))
                try await client.flushall()
                try await Task.sleep(for: .seconds(1))
                server.kill()
                try await Task.sleep(for: .seconds(3))
                try server.start()
                try await group.waitForAll()
            }
            let times = sent.withLock { $0.sorted() }
            func fullest(_ span: Duration) -> Int {
                var (first, most) = (0, 0)
                for (index, time) in times.enumerated() {
                    while time - times[first] >= span { first += 1 }
                    most = max(most, index - first + 1)
                }
                return most
            }
            let (second, ten) = (fullest(.seconds(1)), fullest(.seconds(10)))
            #expect(ten <= 2200 && ten >= 1500, "\(ten) of 2000 in ten seconds, \(second) in one")
        }
    }
}
#endif
