// SPDX-License-Identifier: Apache-2.0
extension Target {
    /// All targets, in the order of the table.
    static let all: [Target] = engine + session + connections + bodies + waiting + transfers + others

    private static let engine = [
        atMost(55, "ns", of: "withRetry, success at once", digits: 1) { samples in
            samples.median("engine", "withRetry", Metric.nanoseconds)
        },
        atMost(0, "mallocs", of: "withRetry, success at once", digits: 0) { samples in
            samples.median("engine", "withRetry", Metric.mallocsPerCall)
        },
        atMost(4500, "ns", of: "Session, answered at once", digits: 0) { samples in
            samples.median("engine", "Session, answered at once", Metric.nanoseconds)
        },
        atMost(6000, "ns", of: "Session, answered at once, decoded", digits: 0) { samples in
            samples.median("engine", "Session, answered at once, decoded", Metric.nanoseconds)
        },
    ]

    private static let session = [
        atLeast(0.68, "× libcurl multi", of: "Session, 64 in flight, 2 B") { samples in
            samples.ratio("64-2b", Metric.rate, "session", to: "curl-multi")
        },
        atLeast(0.8, "× libcurl multi", of: "Session, one after the other") { samples in
            samples.ratio("sequential", Metric.rate, "session", to: "curl-multi")
        },
        atMost(140, "MB at most", of: "Session, 10,000 in flight", digits: 1) { samples in
            samples.median("10000", "session", Metric.peak).map { $0 / 1e6 }
        },
    ]

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
        ("64-64k", "64 KB", 0.95), ("256k", "256 KB", 0.95), ("64-1m", "1 MB", 0.95), ("10m", "10 MB", 0.85),
    ].map { (scenario, size, limit) in
        atLeast(limit, "× libcurl multi", of: "Session, \(size)") { samples in
            samples.ratio(scenario, Metric.rate, "session", to: "curl-multi")
        }
    }

    private static let waiting = [
        ("withRetry", "100,000 calls of withRetry in back-off", 1600.0),
        ("Session", "100,000 requests of Session in back-off", 12_500),
    ].map { (client, name, limit) in
        atMost(limit, "bytes each", of: name, digits: 0) { samples in
            samples.median("waiters", client, Metric.bytesEach)
        }
    }

    /// The command nearly as fast as the best of the others, in at most 40 MB.
    private static let transfers = TransferBenchmark.all.flatMap { benchmark in
        [
            atLeast(0.9, "× the fastest of curl, wget2 and aria2c", of: "refrain get, \(benchmark.title)") { samples in
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
        atMost(20, "MB more after a rest than before", of: "2,000 bodies of 1 MB", digits: 1) { samples in
            guard let before = samples.median("burst", "session", Metric.residentAtBegin),
                let after = samples.median("burst", "session", Metric.residentAfterRest)
            else { return nil }
            return (after - before) / 1e6
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
        // Half of what it once took more.
        atMost(2.6, "ms more than curl", of: "refrain get, one small file", digits: 1) { samples in
            guard let ours = samples.median("command", "refrain", Metric.getMilliseconds),
                let theirs = samples.median("command", "curl", Metric.getMilliseconds)
            else { return nil }
            return ours - theirs
        },
    ]
}
