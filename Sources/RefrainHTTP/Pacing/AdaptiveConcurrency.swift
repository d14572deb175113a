// SPDX-License-Identifier: Apache-2.0
/// How many requests to one place are under way at once, found by additive increase and multiplicative decrease.
///
/// A value but for its slots; its owner has the lock.
struct AdaptiveConcurrency {
    let slots: ThrottleSlots
    private let maximum: Double
    private var limit: Double
    /// The requests under way when the limit was last lowered: what they tell is of the time before.
    private var outdated = 0

    init(maximum: Int) {
        self.maximum = Double(maximum)
        limit = Double(maximum)
        slots = ThrottleSlots(limit: maximum)
    }

    /// What the end of a request tells.
    enum Sign {
        /// The server had room.
        case success
        /// It refused, and did not say for how long.
        case refusal
        /// Neither.
        case nothing
    }

    /// Takes account of the end of a request; returns the new number of slots, where it has changed.
    mutating func note(_ sign: Sign) -> Int? {
        let before = Int(limit)
        let isOutdated = outdated > 0
        if isOutdated { outdated -= 1 }
        switch sign {
        case .success where !isOutdated: limit = min(maximum, limit + 1 / limit)
        case .refusal where !isOutdated:
            limit = max(1, limit / 2)
            outdated = max(0, slots.runningCount - 1)
        default: break
        }
        return Int(limit) == before ? nil : Int(limit)
    }

    var isIdle: Bool { slots.runningCount == 0 && slots.waitingCount == 0 && limit == maximum }
}
