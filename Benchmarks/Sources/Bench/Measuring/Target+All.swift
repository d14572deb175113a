extension Target {
    /// All targets, in the order of the table.
    static let all: [Target] =
        engine + decodable + session("64-2b", "64 in flight, 2 B") + session("64-16k", "64 in flight, 16 KB")
        + [
            atMost(20, "mallocs a request over libcurl's own", of: "Session", digits: 1) { samples in
                guard let ours = samples.median("64-2b", "session", Metric.mallocs),
                    let theirs = samples.median("64-2b", "curl-multi", Metric.mallocs)
                else { return nil }
                return ours - theirs
            },
            atLeast(0.95, "× libcurl multi", of: "Session, 1 MB") { samples in
                samples.ratio("64-1m", Metric.rate, "session", to: "curl-multi")
            },
        ]
        + connections + bodies
        + waiting("withRetry", "100,000 calls of withRetry in back-off")
        + waiting("Retry stage", "100,000 requests of a chain in back-off")
        + waiting("Session", "100,000 requests of Session in back-off") + transfers + others

    private static let engine = [
        atMost(2.5, "× a bare await", of: "withRetry, success at once") { samples in
            samples.ratio("engine", Metric.nanoseconds, "withRetry", to: "bare await")
        },
        atMost(0, "mallocs", of: "withRetry, success at once", digits: 0) { samples in
            samples.median("engine", "withRetry", Metric.mallocsPerCall)
        },
        atMost(0, "clock reads", of: "withRetry, success at once", digits: 0) { samples in
            samples.median("engine", "withRetry", Metric.clockReads)
        },
        atMost(0, "random numbers", of: "withRetry, success at once", digits: 0) { samples in
            samples.median("engine", "withRetry", Metric.randomReads)
        },
        atMost(2, "× the plain loop", of: "withRetry, one failure, no delay") { samples in
            samples.ratio("engine", Metric.nanoseconds, "withRetry, one failure", to: "plain loop, one failure")
        },
    ]

    private static func session(_ scenario: String, _ title: String) -> [Target] {
        let name = "Session, \(title)"
        return [
            atLeast(0.7, "× libcurl multi", of: name) { samples in
                samples.ratio(scenario, Metric.rate, "session", to: "curl-multi")
            },
            atLeast(15, "× URLSession", of: name, digits: 1) { samples in
                samples.ratio(scenario, Metric.rate, "session", to: "urlsession")
            },
            atMost(1.8, "× libcurl multi's CPU", of: name) { samples in
                samples.ratio(scenario, Metric.cpu, "session", to: "curl-multi")
            },
            atMost(2, "× libcurl multi's p99", of: name) { samples in
                samples.ratio(scenario, Metric.p99, "session", to: "curl-multi")
            },
        ]
    }

    private static let connections = [
        atLeast(0.9, "× its rate with one host", of: "Session, HTTPS, eight hosts") { samples in
            samples.ratio("hosts-8-tls", Metric.rate, "session", to: "session", in: "hosts-1-tls")
        },
        atLeast(0.6, "× its rate with one host", of: "Session, 1,000 hosts") { samples in
            samples.ratio("hosts-1000", Metric.rate, "session", to: "session", in: "64-2b")
        },
        atLeast(12_000, "requests a second", of: "Loader, 4,000 open responses", digits: 0) { samples in
            samples.median("open-4000", "loader", Metric.rate)
        },
    ]

    private static let bodies = [
        atLeast(0.95, "× libcurl multi", of: "Session, 256 KB") { samples in
            samples.ratio("256k", Metric.rate, "session", to: "curl-multi")
        },
        atLeast(0.85, "× libcurl multi", of: "Session, 10 MB") { samples in
            samples.ratio("10m", Metric.rate, "session", to: "curl-multi")
        },
    ]

    /// The call of the README, which the targets of the session are read from.
    private static let decodable = [
        atLeast(0.7, "× libcurl multi", of: "Session, decodable, 64 in flight") { samples in
            samples.ratio("64-2b", Metric.rate, "session-decodable", to: "curl-multi")
        },
        atMost(1.8, "× libcurl multi's CPU", of: "Session, decodable, 64 in flight") { samples in
            samples.ratio("64-2b", Metric.cpu, "session-decodable", to: "curl-multi")
        },
        atLeast(0.8, "× libcurl multi", of: "Session, decodable, sequential") { samples in
            samples.ratio("sequential", Metric.rate, "session-decodable", to: "curl-multi")
        },
        atMost(3, "context switches a request", of: "Session, decodable, sequential") { samples in
            samples.median("sequential", "session-decodable", Metric.switches)
        },
        atLeast(0.9, "× its rate with 64", of: "Session, decodable, 10,000 in flight") { samples in
            samples.ratio("10000", Metric.rate, "session-decodable", to: "session-decodable", in: "64-2b")
        },
        atMost(80, "MB at most", of: "Session, decodable, 10,000 in flight", digits: 1) { samples in
            samples.median("10000", "session-decodable", Metric.peak).map { $0 / 1e6 }
        },
    ]

    private static func waiting(_ client: String, _ name: String) -> [Target] {
        [
            atMost(1600, "bytes each", of: name, digits: 0) { samples in
                samples.median("waiters", client, Metric.bytesEach)
            },
            atMost(2, "ms late at p99", of: name) { samples in
                samples.median("waiters", client, Metric.lateP99)
            },
            atMost(150, "ms to cancel all", of: name, digits: 0) { samples in
                samples.median("waiters", client, Metric.cancelling)
            },
        ]
    }

    /// The command as fast as the best of the others, in at most 40 MB.
    private static let transfers = TransferBenchmark.all.flatMap { benchmark in
        [
            atLeast(1, "× the fastest of curl, wget2 and aria2c", of: "refrain get, \(benchmark.title)") { samples in
                let others = TransferBenchmark.Client.allCases.filter { $0 != .refrain }.compactMap {
                    samples.median(benchmark.name, $0.rawValue, Metric.seconds)
                }
                guard let ours = samples.median(benchmark.name, "refrain", Metric.seconds), let best = others.min()
                else { return nil }
                return best / ours
            },
            atMost(40, "MB at most", of: "refrain get, \(benchmark.title)", digits: 1) { samples in
                samples.median(benchmark.name, "refrain", Metric.peak).map { $0 / 1e6 }
            },
        ]
    }

    private static let others = [
        atMost(1.25, "× the requests made reach the server", of: "a backend that fails everything") { samples in
            samples.median("failing", "session", Metric.sendsPerCall)
        },
        atMost(5, "MB more at the end than after a tenth", of: "a million requests") { samples in
            guard let tenth = samples.median("soak", "session", Metric.residentAtTenth),
                let end = samples.median("soak", "session", Metric.residentAtEnd)
            else { return nil }
            return (end - tenth) / 1e6
        },
        atMost(0, "file descriptors lost", of: "a million requests", digits: 0) { samples in
            guard let tenth = samples.median("soak", "session", Metric.filesAtTenth),
                let end = samples.median("soak", "session", Metric.filesAtEnd)
            else { return nil }
            return end - tenth
        },
        atMost(20, "MB, static and stripped", of: "refrain", digits: 1) { samples in
            samples.median("command", "refrain", Metric.fileBytes).map { $0 / 1e6 }
        },
        atMost(15, "ms for --version", of: "refrain", digits: 1) { samples in
            samples.median("command", "refrain", Metric.startMilliseconds)
        },
    ]
}
