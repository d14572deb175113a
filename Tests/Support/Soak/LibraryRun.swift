// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
import Refrain
import RefrainTesting

/// Calls through the library: small ones through a session, downloads through a chain.
struct LibraryRun {
    /// Where the faults come from.
    enum Faults: String {
        /// The server, on the wire.
        case server = "library"
        /// `Chaos`, before the transport.
        case chaos = "library, chaos"
    }

    private let plan: SoakPlan
    private let faults: Faults
    private let calls: Int

    init(_ plan: SoakPlan, _ faults: Faults, calls: Int) {
        self.plan = plan
        self.faults = faults
        self.calls = calls
    }

    func row(_ concurrency: Int) async throws -> SoakRow {
        let server = try SoakServerProcess(plan)
        defer { server.stop() }
        let tally = Tally(calls)
        var configuration = CurlLoader.Configuration()
        configuration.maximumConnectionsPerHost = concurrency
        let counted = CountSends(tally: tally) --> (try CurlLoader(configuration: configuration))
        let transport: any HTTPLoader =
            faults == .chaos ? Chaos(seed: plan.seed, Chaos.Fault.mixed(rate: plan.rate)) --> counted : counted
        let client = SoakClient(plan, base: server.base + (faults == .chaos ? "/plain" : "/call"), transport)
        let next = Locked(0)
        let clock = ContinuousClock()
        let start = clock.now
        await withDiscardingTaskGroup { group in
            for _ in 0..<concurrency {
                group.addTask {
                    while case let number = next.withLock({ next in
                        next += 1; return next - 1
                    }), number < calls {
                        let end = await client.call(number)
                        tally.note(end, number, plan.kind(number), recordsSends: faults == .server)
                        if number == calls / 10 { tally.noteEarlyUsage() }
                    }
                }
            }
        }
        let late = SystemIO.usage() ?? .init()
        var row = SoakRow(name: faults.rawValue)
        row.seconds = (clock.now - start) / .seconds(1)
        tally.fill(&row)
        row.late = late
        try await server.fill(&row, tally.sends, kind: plan.kind) { number, attempt in
            faults == .server && plan.isRefused(number, attempt: attempt)
        }
        return row
    }
}

/// Makes the calls of a plan, and checks what they get.
struct SoakClient: Sendable {
    /// How a call ended.
    struct End: Sendable {
        enum Outcome: Sendable {
            case right
            case wrong
            case failed(HTTPError.Code?, HTTPStatus?)
        }

        let outcome: Outcome
        let attempts: [AttemptRecord]
    }

    private let plan: SoakPlan
    private let base: String
    private let session: Session
    private let downloads: any HTTPLoader

    init(_ plan: SoakPlan, base: String, _ transport: any HTTPLoader) {
        self.plan = plan
        self.base = base
        let schedule = Backoff.exponential(from: .milliseconds(2), maxAttempts: 16).capped(at: .milliseconds(50))
        let policy = RetryPolicy.recommended.with(schedule: schedule)
        var settings = Session.Settings()
        settings.budgets = nil
        session = Session(loader: transport, interceptor: policy, settings: settings)
        downloads = Retry(policy, budgets: nil) --> Resume() --> transport
    }

    func call(_ number: Int) async -> End {
        guard var request = try? HTTPRequest(base) else { return End(outcome: .wrong, attempts: []) }
        request.headers["X-Call"] = String(number)
        let kind = plan.kind(number)
        switch kind {
        case .get: break
        case .put: request.method = .put
        case .post, .keyedPost: request.method = .post
        case .download: return await download(number, request)
        }
        if kind == .keyedPost { request.idempotencyKey = .generated }
        if kind != .get { request.body = .bytes(plan.requestBody(number), contentType: "text/plain") }
        let response = await session.request(request).serializingData().response
        guard response.response?.status == 200, let data = response.value else {
            let code = response.attempts.last?.error
            return End(outcome: .failed(code, response.response?.status), attempts: response.attempts)
        }
        let isRight = data.elementsEqual(plan.content(number))
        return End(outcome: isRight ? .right : .wrong, attempts: response.attempts)
    }

    private func download(_ number: Int, _ request: HTTPRequest) async -> End {
        let sink = BytesSink()
        var request = request
        request.download = Download(to: sink)
        let result = await downloads.load(request)
        guard case .success(let response) = result, response.status == 200 || response.status == 206 else {
            let code = result.attempts.last?.error
            return End(outcome: .failed(code, result.response?.status), attempts: result.attempts)
        }
        return End(outcome: sink.bytes == plan.content(number) ? .right : .wrong, attempts: result.attempts)
    }
}

/// Keeps a download in memory.
private final class BytesSink: Download.Sink {
    private let content = Locked<[UInt8]>([])
    var bytes: [UInt8] { content.withLock { $0 } }
    func write(_ bytes: [UInt8]) async throws { content.withLock { $0 += bytes } }
    func startOver() async throws { content.withLock { $0 = [] } }
}

/// Counts what reaches the transport.
private struct CountSends: HTTPMiddleware {
    let tally: Tally

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        if let number = request.headers["X-Call"].flatMap({ Int($0) }) { tally.noteSend(number) }
        return await next.load(request)
    }
}
#endif
