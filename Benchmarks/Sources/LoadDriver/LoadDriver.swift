// SPDX-License-Identifier: Apache-2.0
internal import CMeasure

/// The arguments of a client, which are the same for all.
public struct LoadArguments: Sendable {
    /// Where the requests go, in turn: one URL per host.
    public let urls: [String]
    /// How many of them are in flight at a time.
    public let concurrency: Int
    /// The certificates to trust, a PEM file; nil: the system's.
    public let certificateFile: String?
    /// How many responses are open meanwhile, which never end.
    public let open: Int
    /// Where these are requested.
    public let openURL: String
    private let requests: Int64
    private let warmup: Int64

    /// Reads the arguments of the process; ends it where they are wrong.
    public init() {
        var arguments = bench_parse(CommandLine.argc, CommandLine.unsafeArgv)
        urls = (0..<arguments.hosts).map { number in
            var text = [CChar](repeating: 0, count: 1024)
            bench_url(&arguments, number, &text, text.count)
            return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        concurrency = Int(arguments.concurrency)
        certificateFile = arguments.ca.map { String(cString: $0) }
        open = Int(arguments.open)
        openURL = arguments.open_url.map { String(cString: $0) } ?? ""
        requests = arguments.requests
        warmup = arguments.warmup
    }

    /// Opens the responses that never end, and returns once all of them have begun.
    ///
    /// - Parameter open: begins one, and keeps it open in a task of its own.
    public func openResponses(_ open: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<self.open { group.addTask { try await open() } }
        }
    }

    /// Makes the requests, first those that are not measured, and prints the line of JSON.
    ///
    /// - Parameters:
    ///   - client: the name of the client.
    ///   - load: makes one request to the host of this number, and returns how many bytes its body had; negative if it
    ///     failed.
    public func run(_ client: String, load: @escaping @Sendable (Int) async -> Int) async {
        if warmup > 0 {
            bench_begin(warmup, false)
            await runPhase(load)
        }
        bench_begin(requests, true)
        await runPhase(load)
        bench_report(client)
    }

    private func runPhase(_ load: @escaping @Sendable (Int) async -> Int) async {
        await withDiscardingTaskGroup { group in
            for _ in 0..<concurrency {
                group.addTask {
                    while true {
                        let number = bench_next()
                        guard number >= 0 else { return }
                        let began = bench_now()
                        let bytes = await load(Int(number) % urls.count)
                        bench_done(number, began, Int64(bytes))
                    }
                }
            }
        }
    }
}
