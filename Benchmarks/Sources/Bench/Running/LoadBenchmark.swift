/// Requests of one kind to the server, made by several clients, one after the other in every round.
struct LoadBenchmark: Benchmark {
    let name: String
    let title: String
    /// The file that is asked for.
    let path: String
    var isSecure = false
    let concurrency: Int
    /// How many requests each client makes in a round: about as many as it manages in a second.
    let requests: [(client: Client, count: Int)]

    /// The clients, by the names of their programs.
    enum Client: String {
        case wrk
        case curlMulti = "CurlMulti"
        case loader = "LoaderClient"
        case session = "SessionClient"
        case urlSession = "URLSessionClient"

        /// The name that the client prints, and that the table shows.
        var label: String {
            switch self {
            case .wrk: "wrk"
            case .curlMulti: "curl-multi"
            case .loader: "loader"
            case .session: "session"
            case .urlSession: "urlsession"
            }
        }
    }

    func runRound(_ bench: Workbench, _ samples: inout Samples) throws {
        for (client, count) in requests where bench.options.wants(client: client.label) {
            let metrics =
                client == .wrk
                ? try runWrk(bench) : try run(bench, client, max(count / bench.options.divisor, 1), counts: false)
            samples.add(metrics, scenario: name, client: client.label)
        }
    }

    func runOnce(_ bench: Workbench, _ samples: inout Samples) throws {
        for (client, _) in requests where client != .wrk && bench.options.wants(client: client.label) {
            let count = path == "/1m" ? 200 : min(5000, max(2000, concurrency))
            let metrics = try run(bench, client, count, counts: true)
            guard let mallocs = metrics[Metric.mallocs] else {
                throw BenchFailure("\(client.label) counted no mallocs")
            }
            samples.add([Metric.mallocs: mallocs], scenario: name, client: client.label)
        }
    }

    private func url(_ bench: Workbench) -> String {
        (isSecure ? bench.nginx.secureURL : bench.nginx.plainURL) + path
    }

    private func runWrk(_ bench: Workbench) throws -> [String: Double] {
        try WrkLine.read(try Child.run("wrk", ["-t1", "-c\(concurrency)", "-d1s", "--latency", url(bench)]))
    }

    private func run(_ bench: Workbench, _ client: Client, _ count: Int, counts: Bool) throws -> [String: Double] {
        var arguments = [url(bench), String(count), String(concurrency), "--warmup", String(max(200, concurrency))]
        if isSecure { arguments += ["--ca", bench.nginx.certificateFile] }
        let metrics = try bench.run(client.rawValue, arguments, counts: counts).first?.metrics ?? [:]
        let failures = metrics[Metric.failures] ?? 0
        guard failures == 0 else {
            throw BenchFailure("\(Int(failures)) requests of \(client.label) failed in \(name)")
        }
        return metrics
    }
}

extension LoadBenchmark {
    static let all = [
        LoadBenchmark(
            name: "sequential",
            title: "one after the other, 2 B",
            path: "/2b",
            concurrency: 1,
            requests: [(.wrk, 0), (.curlMulti, 12_000), (.loader, 10_000), (.session, 10_000), (.urlSession, 2000)]
        ),
        LoadBenchmark(
            name: "64-2b",
            title: "64 in flight, 2 B",
            path: "/2b",
            concurrency: 64,
            requests: [(.wrk, 0), (.curlMulti, 60_000), (.loader, 50_000), (.session, 40_000), (.urlSession, 4000)]
        ),
        LoadBenchmark(
            name: "64-16k",
            title: "64 in flight, 16 KB",
            path: "/16k",
            concurrency: 64,
            requests: [(.wrk, 0), (.curlMulti, 40_000), (.loader, 40_000), (.session, 40_000), (.urlSession, 4000)]
        ),
        LoadBenchmark(
            name: "64-1m",
            title: "64 in flight, 1 MB",
            path: "/1m",
            concurrency: 64,
            requests: [(.wrk, 0), (.curlMulti, 2000), (.loader, 2000), (.session, 2000), (.urlSession, 300)]
        ),
        LoadBenchmark(
            name: "10000",
            title: "10,000 in flight, 2 B",
            path: "/2b",
            concurrency: 10_000,
            requests: [(.curlMulti, 60_000), (.loader, 50_000), (.session, 50_000), (.urlSession, 10_000)]
        ),
        LoadBenchmark(
            name: "http2",
            title: "HTTPS with HTTP/2, 64 in flight, 2 B",
            path: "/2b",
            isSecure: true,
            concurrency: 64,
            requests: [(.curlMulti, 20_000), (.loader, 20_000), (.session, 20_000)]
        ),
    ]
}
