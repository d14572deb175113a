// SPDX-License-Identifier: Apache-2.0
/// The shared exchanges behind a ``Deduplicate`` stage: the state machine, its lock, and the tasks.
final class CoalescingTable: Sendable {
    private typealias Waiter = Promise<HTTPResult?>

    private struct State {
        var shared = CoalescingStateMachine<ExchangeKey, Waiter>()
        var tasks: [UInt64: Task<Void, Never>] = [:]
        /// The closures to call when another request joins an exchange.
        var joinHandlers: [UInt64: @Sendable () -> Void] = [:]
        var parts: [Part] = []
    }

    /// The table of one of the chains that contain the stage.
    ///
    /// The chain keeps it alive.
    private struct Part {
        weak var table: CoalescingTable?
    }

    /// Runs an exchange in a new task.
    typealias Launch = @Sendable (_ exchange: @escaping @Sendable () async -> Void) -> Task<Void, Never>

    private let state = Locked(State())
    private let inFlight = InFlightRequests(.staysOpen)
    private let launch: Launch

    /// Makes a table without exchanges.
    init(launch: @escaping Launch = { exchange in Task { await exchange() } }) { self.launch = launch }

    /// Returns a separate table for one chain.
    ///
    /// This table counts its exchanges and resets it.
    func part() -> CoalescingTable {
        let part = CoalescingTable(launch: launch)
        state.withLock { state in
            state.parts.removeAll { $0.table == nil }
            state.parts.append(Part(table: part))
        }
        return part
    }

    private var parts: [CoalescingTable] { state.withLock { $0.parts.compactMap(\.table) } }

    var exchangeCount: Int { parts.reduce(state.withLock { $0.shared.exchangeCount }) { $0 + $1.exchangeCount } }
    var callerCount: Int { parts.reduce(state.withLock { $0.shared.callerCount }) { $0 + $1.callerCount } }

    /// The number of tasks, including those of exchanges that no request waits for.
    var taskCount: Int { parts.reduce(state.withLock { $0.tasks.count }) { $0 + $1.taskCount } }

    /// Joins or starts the exchange of a key; returns nil if the caller's task was cancelled or the table was reset.
    func load(
        _ request: HTTPRequest,
        key: ExchangeKey,
        next: any HTTPLoader,
        onJoin: (@Sendable () -> Void)?
    ) async -> HTTPResult? {
        guard !Task.isCancelled else { return nil }
        let caller = Waiter()
        let (registration, hasJoined) = state.withLock { state in
            let registration = state.shared.arrive(caller, for: key)
            guard registration.isFirst else { return (registration, state.joinHandlers[registration.exchange]) }
            state.tasks[registration.exchange] = start(registration.exchange, request, next)
            state.joinHandlers[registration.exchange] = onJoin
            return (registration, nil)
        }
        hasJoined?()
        return await withTaskCancellationHandler {
            await caller.value
        } onCancel: {
            let abandoned = state.withLock { state in
                state.shared.leave(registration.number)?.abandoned.flatMap { state.tasks[$0] }
            }
            abandoned?.cancel()
            caller.fulfill(nil)
        }
    }

    /// Resumes all callers, then cancels the exchanges and waits for them.
    func reset(_ rest: @escaping @Sendable () async -> Void = {}) async {
        let (callers, tasks) = state.withLock { state in (state.shared.endAll(), Array(state.tasks.values)) }
        for task in tasks { task.cancel() }
        for caller in callers { caller.fulfill(nil) }
        for part in parts { await part.reset() }
        await inFlight.reset(rest)
    }

    /// Starts an exchange in a new task, because several requests share it.
    private func start(_ number: UInt64, _ request: HTTPRequest, _ next: any HTTPLoader) -> Task<Void, Never> {
        launch { [self] in
            let result = await inFlight.load(request, next: next)
            let callers = state.withLock { state in
                state.tasks[number] = nil
                state.joinHandlers[number] = nil
                return state.shared.finish(exchange: number)
            }
            for caller in callers { caller.fulfill(result) }
        }
    }
}
