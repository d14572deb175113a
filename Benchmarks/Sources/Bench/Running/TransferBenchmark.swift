// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc

/// Downloads by the command, beside other commands: each client is one process, from its start to its end.
///
/// A client that is not installed has no row. The command is that of `make release`; without it the case is left out.
/// Files are written in memory (see ``Scratch``), since the deletions of one round slow the next one down on a disk.
struct TransferBenchmark: Benchmark {
    /// The fetched content.
    enum Work {
        /// A number of files of one size, with a number at a time.
        case files(count: Int, file: String, size: Int, concurrency: Int)
        /// One file, to the disk.
        case file
        /// One file, into a pipe.
        case pipe
    }

    /// The clients, by the names of their programs.
    enum Client: String, CaseIterable {
        case refrain
        case curl
        case wget2
        case aria2c
    }

    let name: String
    let title: String
    let work: Work

    static let all = [
        TransferBenchmark(
            name: "get-small",
            title: "10,000 files of 2 KB, 64 at a time",
            work: .files(count: 10_000, file: "2k", size: 2000, concurrency: 64)
        ),
        TransferBenchmark(
            name: "get-large",
            title: "200 files of 5 MB, 8 at a time",
            work: .files(count: 200, file: "5m", size: 5_000_000, concurrency: 8)
        ),
        TransferBenchmark(name: "get-file", title: "1 GB to a file", work: .file),
        TransferBenchmark(name: "get-pipe", title: "1 GB into a pipe", work: .pipe),
    ]

    func runRound(_ bench: Workbench, _ samples: inout Samples) throws {
        guard let command = CommandBenchmark.path else { return }
        let isChosen: (Client) -> Bool = { bench.options.wants(client: $0.rawValue) }
        // Each round begins with another client, since the first one is not always served as the others are.
        let rounds = samples.samples(name, Client.refrain.rawValue, Metric.seconds).count
        let first = rounds % Client.allCases.count
        for client in (Client.allCases[first...] + Client.allCases[..<first]).filter(isChosen) {
            guard let program = client == .refrain ? try absolute(command) : Self.installed(client.rawValue) else {
                continue
            }
            if case .pipe = work, client == .aria2c { continue }
            samples.add(try run(bench, client, program), scenario: name, client: client.rawValue)
        }
    }

    /// Runs a client in a folder of its own, and checks what it has fetched.
    private func run(_ bench: Workbench, _ client: Client, _ program: String) throws -> [String: Double] {
        var template = Array("\(Scratch.folder)/refrain-bench.XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw BenchFailure("no temporary folder: \(errorText())") }
        let folder = String(cString: made)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let job = try prepare(bench, client, program, in: folder)
        bench.nginx.bringIntoMemory(served(bench))
        Scratch.warm()
        let child = try Child.run("sh", ["-c", "cd \(folder) && \(job.line)"], limit: 300)
        let fetched = Int(child.output.filter(\.isNumber)) ?? Self.size(of: folder + "/out")
        guard child.status == 0, fetched == job.bytes else {
            let outcome = "status \(child.status), \(fetched) of \(job.bytes) bytes"
            throw BenchFailure("\(client.rawValue) in \(name): \(outcome)")
        }
        return [
            Metric.seconds: child.seconds, Metric.cpuSeconds: child.processorSeconds,
            Metric.peak: Double(child.peakBytes),
        ]
    }

    /// The file of the server that is fetched.
    private func served(_ bench: Workbench) -> String {
        if case .files(_, let file, _, _) = work { return file }
        return bench.options.isQuick ? "128m" : "1g"
    }

    /// The command line of a client, and how many bytes it fetches.
    private func prepare(
        _ bench: Workbench,
        _ client: Client,
        _ program: String,
        in folder: String
    ) throws -> (line: String, bytes: Int) {
        let url = "\(bench.nginx.plainURL)/\(served(bench))"
        let size = bench.options.isQuick ? 128_000_000 : 1_000_000_000
        switch work {
        case .files(let count, let file, let size, let concurrency):
            let count = count / bench.options.divisor
            let urls = (0..<count).map { "\(bench.nginx.plainURL)/many/\(file)/\($0).bin" }
            let list = client == .curl ? Self.curlConfiguration(urls) : urls.joined(separator: "\n") + "\n"
            try writeFile(folder + "/list", Data(list.utf8))
            return (Self.line(client, program, concurrency), count * size)
        case .file:
            mkdir(folder + "/out", 0o755)
            let options =
                switch client {
                case .refrain: "get -q -C -o out/file"
                case .curl: "-s -f --retry 3 -o out/file"
                case .wget2: "-q -c --tries=4 -O out/file"
                case .aria2c: "-q -c -m 4 -d out -o file"
                }
            return ("exec \(program) \(options) \(url)", size)
        case .pipe:
            let options = client == .refrain ? "get -q" : client == .curl ? "-s -f" : "-q -O-"
            return ("\(program) \(options) \(url) | wc -c", size)
        }
    }

    /// The command line for many files, which go below `out`.
    private static func line(_ client: Client, _ program: String, _ concurrency: Int) -> String {
        switch client {
        case .refrain: "exec \(program) get -q --from list -j \(concurrency) --output-dir out"
        case .curl: "exec \(program) -s -f -Z --parallel-max \(concurrency) --retry 3 --create-dirs -K list"
        case .wget2: "exec \(program) -q -c -x -P out --tries=4 --max-threads=\(concurrency) -i list"
        case .aria2c:
            "exec \(program) -q -c -d out -j \(concurrency) -m 4 --auto-file-renaming=false -i list"
        }
    }

    private static func curlConfiguration(_ urls: [String]) -> String {
        urls.map { "url = \"\($0)\"\noutput = \"out/\($0.split(separator: "/").last ?? "")\"\n" }.joined()
    }

    /// The bytes of all files below a folder, without the state that a client keeps there.
    private static func size(of folder: String) -> Int {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return names.filter { !$0.hasPrefix(".") }.reduce(0) { total, name in
            var status = stat()
            let isFile = stat("\(folder)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            return total + (isFile ? Int(status.st_size) : 0)
        }
    }

    private func absolute(_ path: String) throws -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    private static func installed(_ name: String) -> String? {
        ["/usr/bin/", "/usr/local/bin/", "/bin/"].map { $0 + name }.first { access($0, X_OK) == 0 }
    }
}
