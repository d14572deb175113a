// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// Counts what happens in a storm, by intervals of virtual time.
struct Recorder {
    /// The length of an interval, in nanoseconds.
    let interval: Int64

    private let storm: Storm
    private let triggerStart: Int64
    private let triggerEnd: Int64
    private let settledStart: Int64
    private var series: Storm.Series
    private var latencySums: [Double]
    private var groups: [GroupCounts]
    private var tierSends: [Int]
    private var before = Share()
    private var during = Share()
    private var after = Share()
    private var latencies = LatencyHistogram()
    private var settledLatencies = LatencyHistogram()
    private var refusals = 0
    private var quotaUsed: Double?
    private var isClosed = false

    private struct Share {
        var ended = 0
        var good = 0
        var value: Double? { ended > 0 ? Double(good) / Double(ended) : nil }
    }

    struct GroupCounts {
        var calls = 0
        var sends = 0
        var successes = 0
    }

    init(_ storm: Storm, groups count: Int) {
        self.storm = storm
        interval = Self.interval(of: storm.duration)
        let end = storm.duration.delayInNanoseconds
        triggerStart = storm.trigger.start?.delayInNanoseconds ?? end
        triggerEnd = min(storm.trigger.end?.delayInNanoseconds ?? end, end)
        settledStart = triggerEnd + (end - triggerEnd) / 2
        let intervals = Int(end / interval) + 1
        series = Storm.Series(interval: .nanoseconds(interval), count: intervals)
        latencySums = Array(repeating: 0, count: intervals)
        groups = Array(repeating: GroupCounts(), count: count)
        tierSends = Array(repeating: 0, count: storm.server.depth)
    }

    /// A round number of seconds that divides the storm into at most 300 steps.
    private static func interval(of duration: Duration) -> Int64 {
        var unit: Int64 = 100_000_000
        while true {
            for factor: Int64 in [1, 2, 5] where duration.delayInNanoseconds / (unit * factor) <= 300 {
                return unit * factor
            }
            unit *= 10
        }
    }

    private func index(_ time: Int64) -> Int { min(Int(time / interval), series.offered.count - 1) }

    mutating func noteCall(at time: Int64, group: Int) {
        series.offered[index(time)] += 1
        groups[group].calls += 1
    }

    mutating func noteSend(at time: Int64, tier: Int, group: Int) {
        guard !isClosed else { return }
        tierSends[tier] += 1
        guard tier == 0 else { return }
        series.sent[index(time)] += 1
        groups[group].sends += 1
    }

    mutating func noteRefusal() {
        guard !isClosed else { return }
        refusals += 1
    }

    mutating func noteEnd(at time: Int64, begun: Int64, isSuccess: Bool, group: Int) {
        guard !isClosed else { return }
        let index = index(time)
        let seconds = Double(time - begun) / 1e9
        latencySums[index] += seconds
        latencies.add(seconds)
        if isSuccess {
            series.good[index] += 1
            groups[group].successes += 1
        } else {
            series.failed[index] += 1
        }
        let good = isSuccess ? 1 : 0
        if time < triggerStart {
            before.ended += 1
            before.good += good
        } else if time < triggerEnd {
            during.ended += 1
            during.good += good
        } else if time >= settledStart {
            after.ended += 1
            after.good += good
            settledLatencies.add(seconds)
        }
    }

    mutating func noteInFlight(_ count: Int, at time: Int64) {
        series.inFlight[index(time - 1)] = count
    }

    /// Ends the counting; only cancelled calls end after this.
    mutating func close(quotaUsed: Double?) {
        isClosed = true
        self.quotaUsed = quotaUsed
    }

    func report(_ names: [String], speed: Double) -> Storm.Report {
        var series = series
        for index in latencySums.indices {
            let ended = series.good[index] + series.failed[index]
            series.latency[index] = ended > 0 ? latencySums[index] / Double(ended) : 0
        }
        let hasTrigger = storm.trigger.start != nil
        let end = Int(triggerEnd / interval)
        return Storm.Report(
            clients: storm.clients,
            seed: storm.seed,
            duration: storm.duration,
            triggerStart: storm.trigger.start,
            triggerEnd: storm.trigger.end,
            calls: groups.reduce(0) { $0 + $1.calls },
            successes: groups.reduce(0) { $0 + $1.successes },
            tierSends: tierSends,
            refusals: refusals,
            quotaUsed: quotaUsed,
            goodBefore: before.value,
            goodDuring: hasTrigger ? during.value : nil,
            goodAfter: hasTrigger ? after.value : nil,
            recovery: hasTrigger ? series.recovery(from: end, share: 0.95 * (before.value ?? 1)) : nil,
            wave: Storm.Wave(series.sent, from: Int(triggerStart / interval), interval: series.interval),
            medianLatency: .delay(seconds: latencies.quantile(0.5)),
            highLatency: .delay(seconds: latencies.quantile(0.99)),
            series: series,
            groups: zip(names, groups).map {
                Storm.GroupReport(name: $0, calls: $1.calls, sends: $1.sends, successes: $1.successes)
            },
            speed: speed
        )
    }
}

/// Latencies by size: eight classes for each doubling, so that a quantile is right to a tenth.
struct LatencyHistogram {
    private var counts: [Int: Int] = [:]
    private var total = 0

    mutating func add(_ seconds: Double) {
        // The exponent and the first three bits of the fraction.
        counts[Int(max(seconds, 1e-6).bitPattern >> 49), default: 0] += 1
        total += 1
    }

    func quantile(_ share: Double) -> Double {
        guard total > 0 else { return 0 }
        var left = Int((Double(total) * share).rounded(.up))
        for key in counts.keys.sorted() {
            left -= counts[key] ?? 0
            guard left <= 0 else { continue }
            return (Double(bitPattern: UInt64(key) << 49) + Double(bitPattern: UInt64(key + 1) << 49)) / 2
        }
        return 0
    }
}
