/// The exchanges under way behind a ``Deduplicate`` stage: the state machine behind its lock, and the tasks.
final class ExchangeTable: Sendable {
    private typealias Waiter = PendingAnswer<HTTPResult?>

    private struct State {
        var shared = SharedExchanges<ExchangeKey, Waiter>()
        var tasks: [UInt64: Task<Void, Never>] = [:]
        /// For whom exchanges were started.
        var starters: [UInt64: CallOwner] = [:]
        var parts: [Part] = []
    }

    /// The table of one of the chains that the stage stands in, which keeps it.
    private struct Part {
        weak var table: ExchangeTable?
    }

    /// Runs an exchange in a task of its own.
    typealias Launch = @Sendable (_ exchange: @escaping @Sendable () async -> Void) -> Task<Void, Never>

    private let state = Locked(State())
    private let flights = Flights(.staysOpen)
    private let launch: Launch

    /// Makes a table without exchanges.
    init(launch: @escaping Launch = { exchange in Task { await exchange() } }) { self.launch = launch }

    /// A table of its own for one chain; here it is counted, and reset with the others.
    func part() -> ExchangeTable {
        let part = ExchangeTable(launch: launch)
        state.withLock { state in
            state.parts.removeAll { $0.table == nil }
            state.parts.append(Part(table: part))
        }
        return part
    }

    private var parts: [ExchangeTable] { state.withLock { $0.parts.compactMap(\.table) } }

    var exchangeCount: Int { parts.reduce(state.withLock { $0.shared.exchangeCount }) { $0 + $1.exchangeCount } }
    var callerCount: Int { parts.reduce(state.withLock { $0.shared.callerCount }) { $0 + $1.callerCount } }

    /// How many tasks are kept: one for each exchange that is under way, those that nobody waits for included.
    var taskCount: Int { parts.reduce(state.withLock { $0.tasks.count }) { $0 + $1.taskCount } }

    /// Joins the exchange of the key, or starts it; nil where the caller's task was cancelled, or the table emptied.
    func load(_ request: HTTPRequest, key: ExchangeKey, next: any HTTPLoader) async -> HTTPResult? {
        guard !Task.isCancelled else { return nil }
        let caller = Waiter()
        let (place, starter) = state.withLock { state in
            let place = state.shared.arrive(caller, for: key)
            guard place.isFirst else { return (place, state.starters[place.exchange]) }
            state.tasks[place.exchange] = start(place.exchange, request, next)
            state.starters[place.exchange] = request.owner
            return (place, nil)
        }
        starter?.caller?.sharesExchange()
        return await withTaskCancellationHandler {
            await caller.value
        } onCancel: {
            let abandoned = state.withLock { state in
                state.shared.leave(ticket: place.ticket)?.abandoned.flatMap { state.tasks[$0] }
            }
            abandoned?.cancel()
            caller.give(nil)
        }
    }

    /// Ends everything: callers are answered first, then the exchanges are cancelled and waited for.
    func reset(next: (any HTTPLoader)?) async {
        let (callers, tasks) = state.withLock { state in (state.shared.endAll(), Array(state.tasks.values)) }
        for task in tasks { task.cancel() }
        for caller in callers { caller.give(nil) }
        for part in parts { await part.reset(next: nil) }
        await flights.reset(next: next)
    }

    /// Starts an exchange in a task of its own: it belongs to all who wait for it.
    private func start(_ number: UInt64, _ request: HTTPRequest, _ next: any HTTPLoader) -> Task<Void, Never> {
        // Now, and not when the task begins to run: whoever starts the exchange may be gone by then.
        let starter = request.owner?.caller
        return launch { [self] in
            let result = await flights.load(request, next: next)
            withExtendedLifetime(starter) {}
            let callers = state.withLock { state in
                state.tasks[number] = nil
                state.starters[number] = nil
                return state.shared.finish(exchange: number)
            }
            for caller in callers { caller.give(result) }
        }
    }
}
