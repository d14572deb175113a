/// Who shares which exchange, as a pure state machine: an event goes in, what is to be done comes out.
///
/// An exchange that nobody wants any more is forgotten at once, so that whoever comes next does not join one that is
/// about to end as cancelled.
struct SharedExchanges<Key: Hashable, Caller> {
    /// Where somebody who arrived stands.
    struct Place: Equatable {
        /// The caller's own number.
        let ticket: UInt64
        /// The number of the exchange that serves the caller.
        let exchange: UInt64
        /// Whether the exchange is to be started.
        let isFirst: Bool
    }

    /// What remains when somebody has left.
    struct Departure {
        let caller: Caller
        /// The exchange that nobody waits for any more, and that is to be cancelled.
        let abandoned: UInt64?
    }

    private struct Exchange {
        let key: Key
        var callers: [UInt64: Caller] = [:]
    }

    private var exchanges: [UInt64: Exchange] = [:]
    private var exchangeByKey: [Key: UInt64] = [:]
    private var exchangeByTicket: [UInt64: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    /// How many exchanges somebody waits for.
    var exchangeCount: Int { exchanges.count }

    /// How many callers wait.
    var callerCount: Int { exchangeByTicket.count }

    /// Somebody wants what the key stands for.
    mutating func arrive(_ caller: Caller, for key: Key) -> Place {
        let ticket = nextNumber()
        let known = exchangeByKey[key]
        let number = known ?? nextNumber()
        exchanges[number, default: Exchange(key: key)].callers[ticket] = caller
        exchangeByKey[key] = number
        exchangeByTicket[ticket] = number
        return Place(ticket: ticket, exchange: number, isFirst: known == nil)
    }

    /// Somebody goes without an answer; nil where the caller had left or been answered before.
    mutating func leave(ticket: UInt64) -> Departure? {
        guard let number = exchangeByTicket.removeValue(forKey: ticket),
            let caller = exchanges[number]?.callers.removeValue(forKey: ticket)
        else { return nil }
        guard let exchange = exchanges[number], exchange.callers.isEmpty else {
            return Departure(caller: caller, abandoned: nil)
        }
        exchanges[number] = nil
        exchangeByKey[exchange.key] = nil
        return Departure(caller: caller, abandoned: number)
    }

    /// An exchange has ended; the answer is all who wait for it.
    mutating func finish(exchange number: UInt64) -> [Caller] {
        guard let exchange = exchanges.removeValue(forKey: number) else { return [] }
        exchangeByKey[exchange.key] = nil
        for ticket in exchange.callers.keys { exchangeByTicket[ticket] = nil }
        return Array(exchange.callers.values)
    }

    /// Everybody is sent away, and every exchange forgotten.
    mutating func endAll() -> [Caller] {
        defer {
            exchanges = [:]
            exchangeByKey = [:]
            exchangeByTicket = [:]
        }
        return exchanges.values.flatMap(\.callers.values)
    }

    private mutating func nextNumber() -> UInt64 {
        lastNumber &+= 1
        return lastNumber
    }
}
