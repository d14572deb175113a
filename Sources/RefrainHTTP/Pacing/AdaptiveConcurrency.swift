// SPDX-License-Identifier: Apache-2.0
/// How many requests to one place are under way at once, found by additive increase and multiplicative decrease.
///
/// Where so many were too many before, the increase is half as fast after each refusal, so that a server with little
/// room is not asked for more of it again and again; the idea is the plateau of CUBIC (RFC 9438).
///
/// A value; its owner has the lock, and the slots.
struct AdaptiveConcurrency {
    /// How much slower the increase becomes at most.
    private static let maxCaution = 64.0

    private let maximum: Double
    private var limit: Double
    /// How many were under way when one was last refused; nil: as many were not refused since.
    private var refusedCount: Int?
    /// How much slower the limit grows to ``refusedCount``.
    private var caution = 1.0
    /// The requests under way when the limit was last lowered: what they tell is of the time before.
    private var outdated = 0

    init(maximum: Int) {
        // As a Double, Int.max is a number that no Int has.
        self.maximum = min(Double(maximum), 0x1p53)
        limit = self.maximum
    }

    /// What the end of a request tells.
    enum Sign {
        /// The server had room.
        case success
        /// It refused, and did not say for how long.
        case refusal
        /// Neither.
        case nothing

        /// What a result tells.
        ///
        /// - Parameters:
        ///   - result: the end of a request that was sent.
        ///   - namesTime: whether it says when to come back, so that the server has said what it has room for.
        init(_ result: HTTPResult, namesTime: Bool) {
            switch result {
            case .success(let response) where [429, 503, 529].contains(response.status.rawValue):
                self = namesTime ? .nothing : .refusal
            case .success(let response): self = response.status.rawValue < 500 ? .success : .nothing
            // It waited for a place in the server's queue.
            case .failure(let error): self = error.code == .timedOut && error.bytesSent == 0 ? .refusal : .nothing
            }
        }
    }

    /// Takes account of the end of a request; returns the new number of slots, where it has changed.
    ///
    /// - Parameters:
    ///   - sign: what it tells.
    ///   - count: the requests that are under way, this one included.
    mutating func note(_ sign: Sign, underWay count: Int) -> Int? {
        let before = Int(limit)
        let isOutdated = outdated > 0
        if isOutdated { outdated -= 1 }
        switch sign {
        case .success where !isOutdated:
            if let refusedCount, count >= refusedCount { (self.refusedCount, caution) = (nil, 1) }
            let isNearRefusal = refusedCount.map { before + 1 >= $0 } ?? false
            limit = min(maximum, limit + 1 / (isNearRefusal ? limit * caution : limit))
        case .refusal where !isOutdated:
            (refusedCount, caution) = (count, min(Self.maxCaution, caution * 2))
            limit = max(1, limit / 2)
            outdated = max(0, count - 1)
        default: break
        }
        return Int(limit) == before ? nil : Int(limit)
    }

    /// Whether a new value would be no different.
    var isFull: Bool { limit == maximum }
}
