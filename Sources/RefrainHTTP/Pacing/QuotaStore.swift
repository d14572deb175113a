// SPDX-License-Identifier: Apache-2.0
public import RefrainCore

/// Where several processes keep one limit together (rule R38); a parameter of ``Pacer``.
///
/// A process books permits ahead, a quarter of a second's worth at a time, and spends them locally. Times are those of
/// the store, so that the clocks of the machines may differ.
public protocol QuotaStore: Sendable {
    /// Books permits.
    ///
    /// - Parameters:
    ///   - key: what is limited.
    ///   - rate: the permits a second that all processes have together; more than zero.
    ///   - wanted: how many permits this process wants; zero: none, as for a hold.
    ///   - hold: how long from now on no process may have a permit. Zero: no longer than before.
    /// - Returns: all that were wanted, or none yet.
    /// - Throws: any error where the store is out of reach. The pacer then goes on with an even share of the
    ///   rate; where the store was never within reach, the request fails.
    func book(_ key: String, rate: Double, wanted: Double, hold: Duration) async throws -> QuotaGrant
}

/// What a ``QuotaStore`` has granted.
public struct QuotaGrant: Hashable, Sendable {
    /// The permits, one after the other at the rate; zero: none yet.
    public var permits: Double
    /// How long from now the first of them is due; without permits, when to ask again.
    public var start: Duration
    /// How many processes have asked lately, this one included.
    public var members: Int

    /// How far ahead of now a store gives permits out at the minimum: 125 ms.
    ///
    /// What is due later is not granted yet.
    public static let horizon = Duration.milliseconds(125)

    /// Returns how far ahead of now a store gives permits out.
    ///
    /// It is ``horizon``, or the time of two such bookings where that is more, so that of a low rate nothing is lost
    /// between them.
    public static func horizon(wanted: Double, rate: Double) -> Duration {
        max(horizon, .delay(seconds: 2 * wanted / rate))
    }

    /// Makes a grant.
    public init(permits: Double, start: Duration, members: Int) {
        (self.permits, self.start, self.members) = (permits, start, members)
    }
}

/// A ``QuotaStore`` in memory: for several pacers of one process, and for tests.
///
/// It shows what another store has to do: it moves one number for each key, the time up to which permits are given out.
public struct InMemoryQuotaStore: QuotaStore {
    private let clocks: RetryClocks
    private let ends = Locked<[String: Duration]>([:])
    private let members: Int

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - members: how many pacers share it, which is told to them. Defaults to 1.
    ///   - clocks: the clock of the store.
    public init(members: Int = 1, clocks: RetryClocks = .system) {
        (self.members, self.clocks) = (max(1, members), clocks)
    }

    /// Books permits; never throws.
    public func book(_ key: String, rate: Double, wanted: Double, hold: Duration) async -> QuotaGrant {
        let now = clocks.now
        return ends.withLock { ends in
            let start = max(now, ends[key] ?? now, now.addingSaturated(hold))
            let horizon = QuotaGrant.horizon(wanted: wanted, rate: rate)
            let isNear = start - now < horizon && wanted > 0
            ends[key] = isNear ? start + .delay(seconds: wanted / rate) : start
            return QuotaGrant(
                permits: isNear ? wanted : 0,
                start: isNear ? start - now : start - now - horizon,
                members: members
            )
        }
    }
}
