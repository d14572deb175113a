// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// What a person says of requests of a state that no run decides: they are sent again, or not any more.
enum Settlement: Sendable {
    /// The next run sends it; a key that the server has forgotten, by its life, is replaced.
    case again(keyLifetime: Duration)
    /// No run sends it.
    case forget

    /// What became of a request.
    enum Change: Sendable {
        /// The next run sends it, which the server has not done.
        case none
        /// The next run sends it again with the key that it had.
        case sameKey
        /// It is sent again, and the server may do it a second time.
        case again
        /// It is sent again with a new key, and the server may do it a second time.
        case newKey
        /// No run sends it.
        case forgotten
        /// It was forgotten before.
        case wasForgotten

        /// What is said of it.
        var text: String {
            switch self {
            case .none: "the next run of its list sends it"
            case .sameKey: "the next run of its list sends it again, with the same key"
            case .again: "the next run of its list sends it again; if the server has it, it is done twice"
            case .newKey:
                "the next run of its list sends it again, with a new key where the list gives none; if the server has it, "
                    + "it is done twice"
            case .forgotten: "no run sends it any more"
            case .wasForgotten: "it is forgotten already"
            }
        }
    }

    /// Decides about a request, whose row must not be `done`.
    ///
    /// - Parameter now: seconds since 1970.
    private func change(of entry: ListEntry, now: Double) -> Change {
        guard case .again(let lifetime) = self else { return entry.settled == nil ? .forgotten : .wasForgotten }
        let mayBeDone = entry.begun != nil || entry.outcome == .unknown || entry.settled != nil
        guard mayBeDone else { return .none }
        guard entry.key != nil else { return .again }
        let age = entry.begun.map { now - $0 } ?? .infinity
        let isKnown = age >= 0 && age < lifetime.inSeconds
        return isKnown && entry.outcome != .unknown && entry.settled == nil ? .sameKey : .newKey
    }
}

extension Settlement {
    /// A request that was settled.
    typealias Settled = (entry: ListEntry, change: Change)

    /// Decides about requests.
    ///
    /// - Parameters:
    ///   - ids: the ids of the requests.
    ///   - found: the requests of the state that have these ids, and perhaps others.
    ///   - now: seconds since 1970.
    /// - Returns: the requests in the order of `ids`.
    /// - Throws: ``UsageError`` where an id is unknown, or its request is done.
    func settled(
        _ ids: [String],
        among found: [String: ListEntry],
        now: Double
    ) throws(UsageError) -> [Settled] {
        var settled: [Settled] = []
        for id in ids {
            guard let entry = found[id] else {
                let advice = "refrain status shows those that are not done"
                throw UsageError("no request has the id \(Sanitized.text(id)); \(advice)")
            }
            if [.done, .forgotten].contains(entry.outcome), entry.settled == nil {
                let name = "\(id) (\(entry.method) \(Sanitized.text(SanitizedURL.shown(entry.url)))) is done"
                throw UsageError("\(name); to send it once more, write another line of the list for it")
            }
            settled.append((entry, change(of: entry, now: now)))
        }
        return settled
    }
}
