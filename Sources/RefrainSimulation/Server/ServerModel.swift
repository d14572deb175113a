// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainHTTP
internal import RefrainTesting

/// One request on its way: its place in the service's table.
struct ExchangeID: Hashable {
    let index: Int
    let serial: UInt32
}

/// The outcome of a request, as the client sees it.
enum SimulatedOutcome {
    case status(Int, headers: HTTPHeaders = [:], body: HTTPBody? = nil)
    case failure(HTTPError.Code)

    var isSuccess: Bool {
        if case .status(let status, _, _) = self { return status < 400 }
        return false
    }
}

/// How a server treats the requests that reach it: when each is answered, and with what.
protocol ServerModel: EventTarget {
    /// A request arrives; the model answers it at once or by an event.
    func arrive(_ id: ExchangeID, _ request: HTTPRequest)
    /// The client has left: its timeout passed, or its task was cancelled.
    func leave(_ id: ExchangeID)
    /// The share of the server's quota that is used, of all that it has allowed up to now; nil: it has none.
    var quotaUsed: Double? { get }
}

extension ServerModel {
    var quotaUsed: Double? { nil }
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

    func arrive(_ id: ExchangeID, _: HTTPRequest) {
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

/// A server whose latency grows with the requests that it works on at the same time.
///
/// It does not detect that a client has left, and completes such a request, unless `dropsAbandoned` is set.
final class CollapseModel: ServerModel {
    private let context: ServerContext
    private let latency: Double
    private let latencyPerRequest: Double
    private let dropsAbandoned: Bool
    private var working = SlotTable<ExchangeID>()
    /// The slots of the requests that are dropped when their client leaves.
    private var slots: [ExchangeID: (index: Int, serial: UInt32)] = [:]
    private var target: Int32 = 0

    init(_ context: ServerContext, latency: Double, latencyPerRequest: Double, dropsAbandoned: Bool) {
        self.context = context
        self.latency = latency
        self.latencyPerRequest = latencyPerRequest
        self.dropsAbandoned = dropsAbandoned
        target = context.loop.add(self)
    }

    func arrive(_ id: ExchangeID, _: HTTPRequest) {
        let seconds = (latency + latencyPerRequest * Double(working.count)) * context.slowness()
        let slot = working.insert(id)
        if dropsAbandoned { slots[id] = slot }
        context.loop.schedule(at: context.time(after: seconds), target: target, value: slot.index, serial: slot.serial)
    }

    func leave(_ id: ExchangeID) {
        guard dropsAbandoned, let slot = slots.removeValue(forKey: id) else { return }
        _ = working.remove(slot.index, slot.serial)
    }

    func handle(_ value: Int, serial: UInt32) {
        guard let id = working.remove(value, serial) else { return }
        if dropsAbandoned { slots[id] = nil }
        context.answer(id, .status(200))
    }
}

/// Workers that take requests from a bounded queue; service times are exponential, as in M/M/c.
///
/// A server cannot see that a client has left: it works on those requests as well, unless it is told to drop them. Its
/// capacity may change with time.
final class QueueModel: ServerModel {
    private let context: ServerContext
    private let rejections: DelayedAnswers
    private let workers: Int
    private let serviceTime: Double
    private let buffer: Int
    private let dropsAbandoned: Bool
    /// The share of the capacity that is there, by the time in seconds; nil: all of it, always.
    private let capacity: ((Double) -> Double)?
    private var queue: [ExchangeID] = []
    private var first = 0
    private var busy = 0
    private var target: Int32 = 0

    init(
        _ context: ServerContext,
        workers: Int,
        serviceTime: Double,
        buffer: Int,
        dropsAbandoned: Bool,
        capacity: ((Double) -> Double)? = nil
    ) {
        self.context = context
        self.workers = workers
        self.serviceTime = serviceTime
        self.buffer = buffer
        self.dropsAbandoned = dropsAbandoned
        self.capacity = capacity
        rejections = DelayedAnswers(context)
        target = context.loop.add(self)
    }

    func arrive(_ id: ExchangeID, _: HTTPRequest) {
        if busy < workers {
            serve(id)
        } else if queue.count - first < buffer {
            queue.append(id)
        } else {
            rejections.answer(id, after: 0.001, with: .status(503))
        }
    }

    func leave(_ id: ExchangeID) {}

    private func serve(_ id: ExchangeID) {
        busy += 1
        var seconds = context.chance.exponential(mean: serviceTime) * context.slowness()
        if let capacity {
            // A server without any capacity looks again ten times a second.
            let share = capacity(context.seconds)
            seconds = share > 0.001 ? seconds / share : 0.1
            if share <= 0.001 { waiting.insert(id) }
        }
        context.loop.schedule(at: context.time(after: seconds), target: target, value: id.index, serial: id.serial)
    }

    /// Requests at a worker that had no capacity when it took them.
    private var waiting: Set<ExchangeID> = []

    func handle(_ value: Int, serial: UInt32) {
        let id = ExchangeID(index: value, serial: serial)
        busy -= 1
        if waiting.remove(id) != nil { return serve(id) }
        context.answer(id, .status(200))
        while busy < workers, first < queue.count {
            let next = queue[first]
            first += 1
            if first > 1024, first * 2 > queue.count {
                queue.removeFirst(first)
                first = 0
            }
            if dropsAbandoned, !context.isWaiting(next) { continue }
            serve(next)
        }
    }
}

/// A server that allows a number of requests per second, and answers the others with 429.
final class TokenModel: ServerModel {
    private let context: ServerContext
    private let answers: DelayedAnswers
    private let rate: Double
    private let burst: Double
    private let latency: Double
    private let hints: Storm.Server.RateLimitHints
    private var tokens: Double
    private var updated: Double = 0
    private var served = 0.0

    init(
        _ context: ServerContext,
        rate: Double,
        burst: Double,
        latency: Double,
        hints: Storm.Server.RateLimitHints
    ) {
        self.context = context
        self.rate = rate
        self.burst = burst
        self.latency = latency
        self.hints = hints
        tokens = burst
        answers = DelayedAnswers(context)
    }

    func arrive(_ id: ExchangeID, _: HTTPRequest) {
        let now = context.seconds
        tokens = min(burst, tokens + (now - updated) * rate)
        updated = now
        if tokens >= 1 {
            tokens -= 1
            served += 1
            return answers.answer(id, after: latency * context.slowness(), with: .status(200))
        }
        // Fields count in whole seconds.
        let wait = max(1, Int(min((1 - tokens) / rate, 1e9).rounded(.up)))
        var headers = HTTPHeaders()
        switch hints {
        case .none: break
        case .retryAfter: headers.add("Retry-After", "\(wait)")
        case .rateLimit:
            headers.add("RateLimit-Policy", "\"default\";q=\(max(1, Int(burst)));w=1")
            headers.add("RateLimit", "\"default\";r=0;t=\(wait)")
        }
        answers.answer(id, after: 0.005, with: .status(429, headers: headers))
    }

    func leave(_ id: ExchangeID) {}
    func handle(_ value: Int, serial: UInt32) {}

    var quotaUsed: Double? { served / (burst + context.seconds * rate) }
}

/// A model API: limits of requests and tokens, with fields that tell them.
final class ModelAPIModel: ServerModel {
    private let context: ServerContext
    private let answers: DelayedAnswers
    private let latency: Double
    private var quota: ModelQuota

    init(_ context: ServerContext, limits: Pacer.Limits, latency: Double) {
        self.context = context
        self.latency = latency
        quota = ModelQuota(
            requests: limits.requests,
            tokens: limits.cost,
            window: limits.interval.inSeconds,
            now: context.seconds
        )
        answers = DelayedAnswers(context)
    }

    func arrive(_ id: ExchangeID, _ request: HTTPRequest) {
        var tokens = request.cost > 0 ? min(request.cost, 1e15) : 0
        if tokens == 0 {
            let counted = ChatRequest.tokens(of: request.body.bytesInMemory ?? [])
            tokens = Double(counted.prompt + counted.completion)
        }
        let (isTaken, fields) = quota.take(tokens: tokens, now: context.seconds)
        var headers = HTTPHeaders()
        for (name, value) in fields { headers.add(name, value) }
        guard isTaken else { return answers.answer(id, after: 0.005, with: .status(429, headers: headers)) }
        let body = HTTPBody.text("{\"usage\":{\"total_tokens\":\(Int(tokens))}}")
        let seconds = latency * context.slowness()
        answers.answer(id, after: seconds, with: .status(200, headers: headers, body: body))
    }

    func leave(_ id: ExchangeID) {}
    func handle(_ value: Int, serial: UInt32) {}

    var quotaUsed: Double? { quota.used(at: context.seconds) }
}
