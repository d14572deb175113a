// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Requests of one kind to the server, made by several clients, one after the other in every round.
struct LoadBenchmark: Benchmark {
    let name: String
    let title: String
    /// The file that is asked for.
    let path: String
    var isSecure = false
    let concurrency: Int
    /// The number of hosts, which are addresses of loopback.
    var hosts = 1
    /// The number of responses that are open meanwhile and never end.
    var open = 0
    /// How long each client makes requests in a round; those that are under way then are awaited.
    var seconds = 1.0
    let clients: [Client]

    /// The clients, by the names of their programs.
    enum Client: String {
        case wrk
        case curlMulti = "CurlMulti"
        case loader = "LoaderClient"
        case session = "SessionClient"
        case sessionDecodable = "SessionDecodableClient"
        case urlSession = "URLSessionClient"
        /// Built only where its packages are at hand.
        case asyncHTTPClient = "AsyncHTTPClientClient"

        /// The name that the client prints, and that the table shows.
        var label: String {
            switch self {
            case .wrk: "wrk"
            case .curlMulti: "curl-multi"
            case .loader: "loader"
            case .session: "session"
            case .sessionDecodable: "session-decodable"
            case .urlSession: "urlsession"
            case .asyncHTTPClient: "async-http-client"
            }
        }
    }

    func runRound(_ bench: Workbench, _ samples: inout Samples) throws {
        for client in clients where bench.has(client) {
            let metrics = client == .wrk ? try runWrk(bench) : try runTimed(bench, client)
            samples.add(metrics, scenario: name, client: client.label)
        }
    }

    func runOnce(_ bench: Workbench, _ samples: inout Samples) throws {
        for client in clients where client != .wrk && bench.has(client) {
            let count = ["/1m", "/10m"].contains(path) ? 200 : max(2000, 3 * concurrency)
            guard let mallocs = try run(bench, client, [String(count)], counts: true)[Metric.mallocs] else {
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

    private func runTimed(_ bench: Workbench, _ client: Client) throws -> [String: Double] {
        // More than any client manages in this time: the latency of each finds a place in memory that is there before.
        let most = String(Int(200_000 * max(1, seconds)))
        let time = Text.number(bench.options.isQuick ? seconds / 4 : seconds, 2)
        return try run(bench, client, [most], ["--seconds", time], counts: false)
    }

    private func run(
        _ bench: Workbench,
        _ client: Client,
        _ count: [String],
        _ further: [String] = [],
        counts: Bool
    ) throws -> [String: Double] {
        var arguments =
            [url(bench)] + count + [String(concurrency), "--warmup", String(max(200, concurrency))] + further
        if isSecure { arguments += ["--ca", bench.nginx.certificateFile] }
        let server = open > 0 ? try OpenServer() : nil
        defer { server?.stop() }
        if let server { arguments += ["--open", String(open), "--open-url", server.url] }
        if hosts > 1 { arguments += ["--hosts", String(hosts)] }
        let metrics = try bench.run(client.rawValue, arguments, counts: counts).first?.metrics ?? [:]
        let failures = metrics[Metric.failures] ?? 0
        guard failures == 0 else {
            throw BenchFailure("\(Int(failures)) requests of \(client.label) failed in \(name)")
        }
        return metrics
    }
}

extension LoadBenchmark {
    private static let bodies: [Client] = [.curlMulti, .loader, .session]
    private static let plain: [Client] = [.wrk, .curlMulti, .loader, .session, .urlSession, .asyncHTTPClient]
    /// The clients of cases whose body is JSON.
    private static let all2B: [Client] = [
        .wrk, .curlMulti, .loader, .session, .sessionDecodable, .urlSession, .asyncHTTPClient,
    ]

    static let all = [
        LoadBenchmark(
            name: "sequential",
            title: "One after the other, 2 B",
            path: "/2b",
            concurrency: 1,
            clients: all2B
        ),
        LoadBenchmark(name: "64-2b", title: "64 in flight, 2 B", path: "/2b", concurrency: 64, clients: all2B),
        LoadBenchmark(
            name: "json-1k",
            title: "64 in flight, 1 KB of JSON",
            path: "/json-1k",
            concurrency: 64,
            clients: [.curlMulti, .session, .sessionDecodable]
        ),
        LoadBenchmark(name: "64-16k", title: "64 in flight, 16 KB", path: "/16k", concurrency: 64, clients: plain),
        LoadBenchmark(name: "64-64k", title: "64 in flight, 64 KB", path: "/64k", concurrency: 64, clients: bodies),
        LoadBenchmark(name: "256k", title: "64 in flight, 256 KB", path: "/256k", concurrency: 64, clients: bodies),
        LoadBenchmark(name: "10m", title: "8 in flight, 10 MB", path: "/10m", concurrency: 8, clients: bodies),
        LoadBenchmark(name: "64-1m", title: "64 in flight, 1 MB", path: "/1m", concurrency: 64, clients: plain),
        LoadBenchmark(
            name: "10000",
            title: "10,000 in flight, 2 B",
            path: "/2b",
            concurrency: 10_000,
            // wrk alone would open a connection for each request in flight.
            clients: [.curlMulti, .loader, .session, .sessionDecodable, .urlSession, .asyncHTTPClient]
        ),
        LoadBenchmark(
            name: "hosts-1-tls",
            title: "HTTPS, 256 in flight to one host, 2 B",
            path: "/2b",
            isSecure: true,
            concurrency: 256,
            clients: [.curlMulti, .loader, .session]
        ),
        LoadBenchmark(
            name: "hosts-8-tls",
            title: "HTTPS, 256 in flight to eight hosts, 2 B",
            path: "/2b",
            isSecure: true,
            concurrency: 256,
            hosts: 8,
            clients: [.curlMulti, .loader, .session]
        ),
        LoadBenchmark(
            name: "hosts-1000",
            title: "64 in flight to 1,000 hosts, 2 B",
            path: "/2b",
            concurrency: 64,
            hosts: 1000,
            clients: [.curlMulti, .loader, .session]
        ),
        LoadBenchmark(
            name: "open-2000",
            title: "64 in flight beside 2,000 open responses, 2 B",
            path: "/2b",
            concurrency: 64,
            open: 2000,
            clients: [.loader]
        ),
        LoadBenchmark(
            name: "open-4000",
            title: "64 in flight beside 4,000 open responses, 2 B",
            path: "/2b",
            concurrency: 64,
            open: 4000,
            clients: [.loader]
        ),
        LoadBenchmark(
            name: "http2",
            title: "HTTPS with HTTP/2, 64 in flight, 2 B",
            path: "/2b",
            isSecure: true,
            concurrency: 64,
            // wrk speaks no HTTP/2; URLSession on Linux refuses the server's certificate, whatever it is told to trust.
            clients: [.curlMulti, .loader, .session]
        ),
    ]
}

extension Workbench {
    /// Whether a client is wanted, and was built if it is one that need not be.
    fileprivate func has(_ client: LoadBenchmark.Client) -> Bool {
        guard options.wants(client: client.label) else { return false }
        return client != .asyncHTTPClient || access(folder + "/" + client.rawValue, X_OK) == 0
    }
}
