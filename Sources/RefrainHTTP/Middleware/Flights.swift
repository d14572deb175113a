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

    /// The place of an owned request among those under way.
    struct Place {
        let number: UInt64
        fileprivate let slot: Int
    }

    private struct State {
        var tasks: [UInt64: Task<HTTPResult, Never>] = [:]
        /// Requests that run in the task of their caller.
        var owned = SlotList<Owned>()
        var lastNumber: UInt64 = 0
        /// Requests up to this number are part of a reset.
        var lastLeaving: UInt64 = 0
        var reset: Task<Void, Never>?
        /// The owned requests that a reset waits for, and the reset.
        var leaving: Set<UInt64> = []
        var drained: UnsafeContinuation<Void, Never>?

        /// The number of a request that begins; nil where it is refused.
        mutating func begin(_ door: Door) -> UInt64? {
            if door == .closesForResets, reset != nil { return nil }
            lastNumber &+= 1
            return lastNumber
        }

        /// Whether a request has not returned.
        ///
        /// A task that it has begun may live longer, and belongs to it no more.
        func isUnderWay(_ number: UInt64) -> Bool {
            tasks[number] != nil || owned.all.contains { $0.number == number }
        }

        /// Takes out an owned request that has returned; answers the reset that has waited for it as the last one.
        mutating func endOwned(_ number: UInt64, _ slot: Int) -> UnsafeContinuation<Void, Never>? {
            owned.remove(at: slot)
            guard !leaving.isEmpty, leaving.remove(number) != nil, leaving.isEmpty else { return nil }
            return drained.take()
        }
    }

    private struct Owned {
        let number: UInt64
        let caller: any Caller
    }

    init(_ door: Door) { self.door = door }

    /// The number of requests under way.
    var count: Int { state.withLock { $0.tasks.count + $0.owned.count } }

    /// Loads a request within a task that a reset can cancel.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let begun: (number: UInt64, task: Task<HTTPResult, Never>)? = state.withLock { state in
            guard let number = state.begin(door) else { return nil }
            // Entered under the lock: a reset sees each request either here, or at the door.
            let task = Task { [within = FlightList.current] in
                await FlightList.$current.withValue(FlightList(self, number, within)) { await next.load(request) }
            }
            state.tasks[number] = task
            return (number, task)
        }
        guard let (number, task) = begun else { return Self.refused(request) }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        state.withLock { $0.tasks[number] = nil }
        return result
    }

    /// Loads a request in the present task, which is its caller's and which the caller cancels for a reset.
    func load(_ request: HTTPRequest, of caller: any Caller, next: any HTTPLoader) async -> HTTPResult {
        guard let place = enter(for: caller) else { return Self.refused(request) }
        let result = await FlightList.$current.withValue(FlightList(self, place.number, FlightList.current)) {
            await next.load(request)
        }
        leave(place)
        return result
    }

    /// Takes in a request that its caller cancels for a reset; nil where it is refused.
    func enter(for caller: any Caller) -> Place? {
        state.withLock { state in
            guard let number = state.begin(door) else { return nil }
            return Place(number: number, slot: state.owned.insert(Owned(number: number, caller: caller)))
        }
    }

    /// Lets go of a request that has returned.
    func leave(_ place: Place) {
        state.withLock { $0.endOwned(place.number, place.slot) }?.resume()
    }

    @inline(never)
    static func refused(_ request: HTTPRequest) -> HTTPResult {
        .failure(
            HTTPError(
                .resetInProgress,
                request: request,
                message: "the chain is being reset; try again when that is done",
                bytesSent: 0
            )
        )
    }

    /// Cancels what is under way, resets what follows, waits until all of it has returned, and opens again.
    ///
    /// Resets that overlap are one. A reset that is asked for from within a request of these cannot wait for that
    /// request: it returns at once, and the reset goes on without it.
    func reset(next: (any HTTPLoader)?) async {
        let reset = state.withLock { state in
            if let reset = state.reset { return reset }
            let leaving = Array(state.tasks.values)
            let owned = state.owned.all
            state.leaving = Set(owned.map(\.number))
            state.lastLeaving = state.lastNumber
            // Detached: the reset belongs to no request, also where a request asked for it.
            let reset = Task.detached {
                for task in leaving { task.cancel() }
                for request in owned { request.caller.cancelTask() }
                await next?.reset()
                for task in leaving { _ = await task.value }
                await self.drain()
                self.state.withLock { $0.reset = nil }
            }
            state.reset = reset
            return reset
        }
        guard !areAroundPresentCode else { return }
        await reset.value
    }

    /// Whether the present code runs within one of these requests.
    var areAroundPresentCode: Bool { FlightList.current?.contains(self) ?? false }

    /// Returns when the owned requests that are leaving have returned.
    private func drain() async {
        // Unsafe: resumed here where none is left, or else once, by the last one that takes it out of the state.
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let isDone = state.withLock { state in
                if !state.leaving.isEmpty { state.drained = continuation }
                return state.leaving.isEmpty
            }
            if isDone { continuation.resume() }
        }
    }

    fileprivate func isLeaving(_ number: UInt64) -> Bool {
        state.withLock { $0.lastLeaving >= number && $0.isUnderWay(number) }
    }

    fileprivate func isUnderWay(_ number: UInt64) -> Bool { state.withLock { $0.isUnderWay(number) } }
}

/// The stages whose requests the present code runs within, from the innermost out.
struct FlightList: Sendable {
    @TaskLocal static var current: FlightList?

    /// Whether the present code runs within a request of some chain.
    static var isInside: Bool { current != nil }

    private let flights: Flights
    private let number: UInt64
    private let outer: Outer?

    /// A list that another one goes on with: only a chain within a chain has one.
    private final class Outer: Sendable {
        let list: FlightList

        init(_ list: FlightList) { self.list = list }
    }

    init(_ flights: Flights, _ number: UInt64, _ outer: FlightList?) {
        self.flights = flights
        self.number = number
        self.outer = outer.map { Outer($0) }
    }

    func contains(_ wanted: Flights) -> Bool {
        flights === wanted && flights.isUnderWay(number) || (outer?.list.contains(wanted) ?? false)
    }

    /// Whether the request is part of a reset that has begun.
    ///
    /// A reset cancels one request after the other. What the first of them gives up must not go to one whose turn to be
    /// cancelled has not come yet.
    var isLeaving: Bool { flights.isLeaving(number) || (outer?.list.isLeaving ?? false) }
}
