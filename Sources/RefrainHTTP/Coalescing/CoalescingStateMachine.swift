// SPDX-License-Identifier: Apache-2.0
/// Assigns requests to shared exchanges: takes events, returns actions.
///
/// An exchange without waiting requests is removed immediately, so that later requests do not join a cancelled
/// exchange.
struct CoalescingStateMachine<Key: Hashable, Caller> {
    /// The registration of a waiting request.
    struct Registration: Equatable {
        /// The number of the request.
        let number: UInt64
        /// The number of its exchange.
        let exchange: UInt64
        /// Whether the exchange must be started.
        let isFirst: Bool
    }

    /// The result of removing a waiting request.
    struct Departure {
        let caller: Caller
        /// The exchange that no request waits for any more and that must be cancelled.
        let abandoned: UInt64?
    }

    private struct Exchange {
        let key: Key
        var callers: [UInt64: Caller] = [:]
    }

    private var exchanges: [UInt64: Exchange] = [:]
    private var exchangeByKey: [Key: UInt64] = [:]
    private var exchangeByRegistration: [UInt64: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    /// The number of exchanges with waiting requests.
    var exchangeCount: Int { exchanges.count }

    /// The number of waiting requests.
    var callerCount: Int { exchangeByRegistration.count }

    /// Registers a request for a key.
    mutating func arrive(_ caller: Caller, for key: Key) -> Registration {
        let registration = nextNumber()
        let known = exchangeByKey[key]
        let number = known ?? nextNumber()
        exchanges[number, default: Exchange(key: key)].callers[registration] = caller
        exchangeByKey[key] = number
        exchangeByRegistration[registration] = number
        return Registration(number: registration, exchange: number, isFirst: known == nil)
    }

    /// Removes a request without a result; returns nil if it was removed or finished before.
    mutating func leave(_ registration: UInt64) -> Departure? {
        guard let number = exchangeByRegistration.removeValue(forKey: registration),
            let caller = exchanges[number]?.callers.removeValue(forKey: registration)
        else { return nil }
        guard let exchange = exchanges[number], exchange.callers.isEmpty else {
            return Departure(caller: caller, abandoned: nil)
        }
        exchanges[number] = nil
        exchangeByKey[exchange.key] = nil
        return Departure(caller: caller, abandoned: number)
    }

    /// Removes a finished exchange and returns the requests that wait for it.
    mutating func finish(exchange number: UInt64) -> [Caller] {
        guard let exchange = exchanges.removeValue(forKey: number) else { return [] }
        exchangeByKey[exchange.key] = nil
        for registration in exchange.callers.keys { exchangeByRegistration[registration] = nil }
        return Array(exchange.callers.values)
    }

    /// Removes all exchanges and returns all waiting requests.
    mutating func endAll() -> [Caller] {
        defer {
            exchanges = [:]
            exchangeByKey = [:]
            exchangeByRegistration = [:]
        }
        return exchanges.values.flatMap(\.callers.values)
    }

    private mutating func nextNumber() -> UInt64 {
        lastNumber &+= 1
        return lastNumber
    }
}
