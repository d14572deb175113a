/// The requests that are under way behind a stage, each in a task that a reset can cancel and wait for.
final class Flights: Sendable {
    /// What becomes of a request that arrives during a reset.
    enum Door {
        /// It is refused with ``HTTPError/Code/resetInProgress``.
        case closesForResets
        /// It is let through, and not part of that reset.
        case staysOpen
    }

    private let door: Door
    private let state = Locked(State())

    private struct State {
        var tasks: [UInt64: Task<HTTPResult, Never>] = [:]
        var lastNumber: UInt64 = 0
        /// Requests up to this number are part of a reset.
        var lastLeaving: UInt64 = 0
        var reset: Task<Void, Never>?
    }

    init(_ door: Door) { self.door = door }

    /// The number of requests under way.
    var count: Int { state.withLock { $0.tasks.count } }

    /// Loads a request within a task that a reset can cancel.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let begun: (number: UInt64, task: Task<HTTPResult, Never>)? = state.withLock { state in
            if door == .closesForResets, state.reset != nil { return nil }
            state.lastNumber &+= 1
            let number = state.lastNumber
            // Entered under the lock: a reset sees each request either here, or at the door.
            let task = Task { [within = FlightList.current] in
                await FlightList.$current.withValue(FlightList(self, number, within)) { await next.load(request) }
            }
            state.tasks[number] = task
            return (number, task)
        }
        guard let (number, task) = begun else {
            return .failure(
                HTTPError(
                    .resetInProgress,
                    request: request,
                    message: "the chain is being reset; try again when that is done",
                    bytesSent: 0
                )
            )
        }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        state.withLock { $0.tasks[number] = nil }
        return result
    }

    /// Cancels what is under way, resets what follows, waits until all of it has returned, and opens again.
    ///
    /// Resets that overlap are one. A reset that is asked for from within a request of these cannot wait for that
    /// request: it returns at once, and the reset goes on without it.
    func reset(next: (any HTTPLoader)?) async {
        let reset = state.withLock { state in
            if let reset = state.reset { return reset }
            let leaving = Array(state.tasks.values)
            state.lastLeaving = state.lastNumber
            // Detached: the reset belongs to no request, also where a request asked for it.
            let reset = Task.detached {
                for task in leaving { task.cancel() }
                await next?.reset()
                for task in leaving { _ = await task.value }
                self.state.withLock { $0.reset = nil }
            }
            state.reset = reset
            return reset
        }
        guard !(FlightList.current?.contains(self) ?? false) else { return }
        await reset.value
    }

    fileprivate func isLeaving(_ number: UInt64) -> Bool { state.withLock { number <= $0.lastLeaving } }
}

/// The stages whose requests the present code runs within, from the innermost out.
final class FlightList: Sendable {
    @TaskLocal static var current: FlightList?

    private let flights: Flights
    private let number: UInt64
    private let outer: FlightList?

    init(_ flights: Flights, _ number: UInt64, _ outer: FlightList?) {
        self.flights = flights
        self.number = number
        self.outer = outer
    }

    func contains(_ wanted: Flights) -> Bool {
        flights === wanted || (outer?.contains(wanted) ?? false)
    }

    /// Whether the request is part of a reset that has begun.
    ///
    /// A reset cancels one request after the other. What the first of them gives up must not go to one whose turn to be
    /// cancelled has not come yet.
    var isLeaving: Bool { flights.isLeaving(number) || (outer?.isLeaving ?? false) }
}
