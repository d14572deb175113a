internal import RefrainCore

extension Storm {
    /// The memory that a call under way and a client that has made a call are reckoned with, in bytes.
    static let bytesPerCall = 9_000
    static let bytesPerClient = 1_050

    /// Runs the storm with one policy.
    ///
    /// - Parameter make: makes what a client of production makes, once for each client that makes a call. It and all
    ///   that it makes run on the simulation's thread.
    /// - Returns: the report, the same for the same seed.
    /// - Throws: ``Failure``, what `make` threw, or `CancellationError`.
    public func run(_ make: @escaping @Sendable (Client) throws -> Caller) async throws -> Report {
        try await run(fleet: [Group("", make)])
    }

    /// Runs the storm with several policies in one fleet.
    ///
    /// - Parameter groups: the parts of the fleet, one or more.
    /// - Throws: ``Failure``, what a group threw, `InvalidArgument` for no groups or a share that is not positive, or
    ///   `CancellationError`.
    public func run(fleet groups: [Group]) async throws -> Report {
        guard !groups.isEmpty else { throw InvalidArgument("fleet", is: "empty", expected: "one group or more") }
        for group in groups where !(group.share > 0 && group.share.isFinite) {
            throw InvalidArgument("share", is: group.share, expected: "a number over zero")
        }
        let bytes = expectedMemory
        guard bytes <= memoryLimit else { throw Failure.needsMoreMemory(bytes, limit: memoryLimit) }
        return try await StormRun(self, groups).report()
    }

    /// The memory that a run is expected to need, in bytes.
    var expectedMemory: Int {
        let clients = Double(clients)
        switch load.kind {
        case .open(let perSecond):
            let calls = perSecond * duration.inSeconds
            // The clients that make at least one call: N (1 − e⁻ˣ) with x calls for each, by a short series.
            let mean = min(calls / clients, 20)
            let active = clients * (1 - 1 / (1 + mean * (1 + mean / 2 * (1 + mean / 3))))
            let underWay = min(calls, perSecond * timeout.inSeconds * 3)
            return Int(min(active * Double(Self.bytesPerClient) + underWay * Double(Self.bytesPerCall), 1e18))
        case .closed(let callers, _):
            let all = clients * Double(callers)
            return Int(min(clients * Double(Self.bytesPerClient) + all * 100 + min(all, 1e6) * 1000, 1e18))
        }
    }

    /// Runs the storm with several seeds: those that follow ``seed``.
    ///
    /// - Throws: as ``run(_:)``.
    public func run(
        seeds count: Int,
        _ make: @escaping @Sendable (Client) throws -> Caller
    ) async throws -> [Report] {
        var reports: [Report] = []
        for offset in 0..<max(count, 0) {
            var storm = self
            storm.seed = seed &+ UInt64(offset)
            reports.append(try await storm.run(make))
        }
        return reports
    }

    /// Finds, by bisection, by which factor the trigger must last longer, or shorter, for the service not to recover.
    ///
    /// - Parameters:
    ///   - range: the factors that are tried. Defaults to a sixteenth up to four times.
    ///   - steps: how often the range is halved, 1 … 20. Defaults to 6.
    ///   - make: as in ``run(_:)``.
    /// - Returns: the smallest factor that was found not to recover; nil where even the largest does.
    /// - Throws: as ``run(_:)``.
    public func smallestFatalTrigger(
        in range: ClosedRange<Double> = 0.0625...4,
        steps: Int = 6,
        _ make: @escaping @Sendable (Client) throws -> Caller
    ) async throws -> Double? {
        var (low, high) = (range.lowerBound, range.upperBound)
        guard low > 0, high.isFinite else {
            throw InvalidArgument("range", is: "\(range)", expected: "factors over zero")
        }
        guard try await !scaledRun(high, make).hasRecovered else { return nil }
        guard try await scaledRun(low, make).hasRecovered else { return low }
        for _ in 0..<min(max(steps, 1), 20) {
            // The geometric mean, since the range spans magnitudes.
            let middle = (low * high).squareRoot()
            if try await scaledRun(middle, make).hasRecovered { low = middle } else { high = middle }
        }
        return high
    }

    private func scaledRun(
        _ factor: Double,
        _ make: @escaping @Sendable (Client) throws -> Caller
    ) async throws -> Report {
        try await with(trigger: trigger.scaled(by: factor)).run(make)
    }
}
