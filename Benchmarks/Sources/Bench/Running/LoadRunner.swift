/// Runs the clients against the server and collects what they print.
struct LoadRunner {
    let nginx: Nginx
    /// The folder of the clients' programs.
    let folder: String
    /// The counts of requests are divided by this.
    let divisor: Int

    /// Runs one client once.
    func run(_ scenario: LoadScenario, _ client: LoadScenario.Client, _ count: Int, into samples: inout Samples) throws
    {
        let url = (scenario.isSecure ? nginx.secureURL : nginx.plainURL) + scenario.path
        if client == .wrk {
            let arguments = ["-t1", "-c\(scenario.concurrency)", "-d1s", "--latency", url]
            let child = try Child.run("wrk", arguments)
            samples.add(try WrkLine.read(child), scenario: scenario.name, client: client.label)
            return
        }
        let metrics = try measure(scenario, client, max(count / divisor, 1), counting: false)
        samples.add(metrics, scenario: scenario.name, client: client.label)
    }

    /// Counts the mallocs of one client, in a run that is not timed.
    func count(_ scenario: LoadScenario, _ client: LoadScenario.Client, into samples: inout Samples) throws {
        guard client != .wrk else { return }
        let metrics = try measure(scenario, client, min(2000, max(200, scenario.concurrency)), counting: true)
        guard let mallocs = metrics[Metric.mallocs] else { throw BenchFailure("\(client.label) counted no mallocs") }
        samples.add([Metric.mallocs: mallocs], scenario: scenario.name, client: client.label)
    }

    private func measure(
        _ scenario: LoadScenario,
        _ client: LoadScenario.Client,
        _ count: Int,
        counting: Bool
    ) throws -> [String: Double] {
        var arguments = [
            (scenario.isSecure ? nginx.secureURL : nginx.plainURL) + scenario.path, String(count),
            String(scenario.concurrency), "--warmup", String(max(200, scenario.concurrency)),
        ]
        if scenario.isSecure { arguments += ["--ca", nginx.certificateFile] }
        let environment = counting ? ["LD_PRELOAD": folder + "/libCountingMalloc.so"] : [:]
        let child = try Child.run(folder + "/" + client.rawValue, arguments, environment: environment)
        guard child.status == 0, let line = try ClientLine.read(child.output).first else {
            throw BenchFailure("\(client.rawValue) ended with status \(child.status) in \(scenario.name)")
        }
        let failures = line.metrics[Metric.failures] ?? 0
        guard failures == 0 else {
            throw BenchFailure("\(Int(failures)) requests of \(client.rawValue) failed in \(scenario.name)")
        }
        return line.metrics
    }
}
