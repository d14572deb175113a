internal import RefrainCore
internal import RefrainHTTP

/// One request on its way: its place in the service's table.
struct ExchangeID: Hashable {
    let index: Int
    let serial: UInt32
}

/// The outcome of a request, as the client sees it.
enum SimulatedOutcome {
    case status(Int, headers: HTTPHeaders = [:])
    case failure(HTTPError.Code)

    var isSuccess: Bool {
        if case .status(let status, _) = self { return status < 400 }
        return false
    }
}

/// How a server treats the requests that reach it: when each is answered, and with what.
protocol ServerModel: EventTarget {
    /// A request arrives; the model answers it at once or by an event.
    func arrive(_ id: ExchangeID)
    /// The client has left: its timeout passed, or its task was cancelled.
    func leave(_ id: ExchangeID)
}

/// The environment of a model.
final class ServerContext {
    let loop: SimulationLoop
    var chance: Chance
    /// How many times as long a request takes as usual, at present.
    var slowness: () -> Double = { 1 }
    /// Answers a request; one that has left is not answered.
    var answer: (ExchangeID, SimulatedOutcome) -> Void = { _, _ in }
    /// Whether the client of a request still waits.
    var isWaiting: (ExchangeID) -> Bool = { _ in false }

    init(_ loop: SimulationLoop, seed: UInt64) {
        self.loop = loop
        chance = Chance(seed: seed)
    }

    /// The nanoseconds of virtual time a number of seconds from now.
    func time(after seconds: Double) -> Int64 { loop.now + Int64((min(seconds, 1e9) * 1e9).rounded()) }
    var seconds: Double { Double(loop.now) / 1e9 }
}

/// Answers at scheduled times, for models that determine the time when a request arrives.
final class DelayedAnswers: EventTarget {
    private let context: ServerContext
    private var pending = SlotTable<(id: ExchangeID, outcome: SimulatedOutcome)>()
    private var target: Int32 = 0

    init(_ context: ServerContext) {
        self.context = context
        target = context.loop.add(self)
    }

    func answer(_ id: ExchangeID, after seconds: Double, with outcome: SimulatedOutcome) {
        let slot = pending.insert((id, outcome))
        let time = context.time(after: seconds)
        context.loop.schedule(at: time, target: target, value: slot.index, serial: slot.serial)
    }

    func handle(_ value: Int, serial: UInt32) {
        guard let (id, outcome) = pending.remove(value, serial) else { return }
        context.answer(id, outcome)
    }
}

/// A server that follows a list of phases, whatever its load.
final class ScriptModel: ServerModel {
    private let context: ServerContext
    private let answers: DelayedAnswers
    private let phases: [Storm.Server.Phase]

    init(_ context: ServerContext, phases: [Storm.Server.Phase]) {
        self.context = context
        self.phases = phases
        answers = DelayedAnswers(context)
    }

    func arrive(_ id: ExchangeID) {
        var left = context.seconds
        var phase = phases.last
        for candidate in phases {
            phase = candidate
            left -= candidate.duration.inSeconds
            if left < 0 { break }
        }
        guard let phase else { return context.answer(id, .status(200)) }
        let fails = phase.failureRate > 0 && context.chance.unit() < phase.failureRate
        let latency = phase.latency.inSeconds * context.slowness()
        answers.answer(id, after: latency, with: .status(fails ? phase.failureStatus : 200))
    }

    func leave(_ id: ExchangeID) {}
    func handle(_ value: Int, serial: UInt32) {}
}
