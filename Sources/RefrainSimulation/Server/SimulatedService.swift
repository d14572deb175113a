// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainHTTP

/// One tier of servers, as the transport of those that call it.
final class SimulatedService: EventTarget, @unchecked Sendable {
    // @unchecked Sendable: touched only by the simulation's own thread, which `load` asks for.
    private struct Exchange {
        var continuation: UnsafeContinuation<SimulatedOutcome, Never>
        /// The call to the next tier.
        var task: Task<Void, Never>?
        /// Whether the model was told of the request, and waits for its end.
        var isAtServer = true
    }

    /// Every answer's body: what serializes one finds something.
    private static let body = HTTPBody.text("ok")

    let loop: SimulationLoop
    private let timeout: Duration
    private let model: any ServerModel
    private let context: ServerContext
    private let answers: DelayedAnswers
    private var exchanges = SlotTable<Exchange>()
    private var target: Int32 = 0
    private var chance: Chance

    /// Calls the next tier; nil: there is none.
    var callBackend: (@Sendable () async -> SimulatedOutcome)?
    /// The triggers of this tier.
    var trigger: TriggerState
    /// Told of each request that is sent to this tier, and of the group of its client.
    var noteSend: (_ group: Int) -> Void = { _ in }
    /// Told of each request that this tier has refused for its load.
    var noteRefusal: () -> Void = {}

    init(_ server: Storm.Server, trigger: Storm.Trigger, timeout: Duration, seed: UInt64, on loop: SimulationLoop) {
        self.loop = loop
        self.timeout = timeout
        self.trigger = TriggerState(trigger)
        context = ServerContext(loop, seed: Chance.seed(seed, part: 1))
        chance = Chance(seed: Chance.seed(seed, part: 2))
        model = server.model(context)
        answers = DelayedAnswers(context)
        target = loop.add(self)
        context.slowness = { [unowned self] in self.trigger.slowness(at: self.context.seconds) }
        context.answer = { [unowned self] id, outcome in self.answered(id, outcome) }
        context.isWaiting = { [unowned self] id in self.exchanges.contains(id.index, id.serial) }
    }

    /// The requests that wait for an answer.
    var inFlight: Int { exchanges.count }
    var quotaUsed: Double? { model.quotaUsed }

    func load(_ request: HTTPRequest, group: Int) async -> HTTPResult {
        guard loop.isCurrent else {
            loop.fail(.leftSimulation)
            return .failure(HTTPError(.cancelled, request: request))
        }
        guard !Task.isCancelled else { return .failure(HTTPError(.cancelled, request: request, bytesSent: 0)) }
        let limit = min(timeout, request.timeLeft ?? timeout)
        // Written and read by the simulation's thread only.
        nonisolated(unsafe) var id: ExchangeID?
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let slot = exchanges.insert(Exchange(continuation: continuation))
                let sent = ExchangeID(index: slot.index, serial: slot.serial)
                id = sent
                noteSend(group)
                send(sent, request, limit: limit)
            }
        } onCancel: {
            guard loop.isCurrent else { return loop.fail(.leftSimulation) }
            guard let id else { return }
            end(id, .failure(.cancelled))
        }
        switch outcome {
        case .status(let status, let headers, let body):
            if [429, 503, 529].contains(status) { noteRefusal() }
            let facts = HTTPResponse.Exchange(bytesSent: 100)
            let response = HTTPResponse(
                request: request,
                status: HTTPStatus(rawValue: status),
                headers: headers,
                body: body ?? Self.body,
                exchange: facts
            )
            return .success(response)
        case .failure(let code):
            return .failure(HTTPError(code, request: request, bytesSent: code == .cannotConnectToHost ? 0 : 100))
        }
    }

    private func send(_ id: ExchangeID, _ request: HTTPRequest, limit: Duration) {
        let due = loop.now + limit.delayInNanoseconds
        loop.schedule(at: due, target: target, value: id.index, serial: id.serial)
        switch trigger.fate(at: context.seconds, &chance) {
        case nil: return model.arrive(id, request)
        case .unavailable: answers.answer(id, after: 0.01, with: .status(503))
        case .refused: answers.answer(id, after: 0.001, with: .failure(.cannotConnectToHost))
        case .silence: break
        }
        exchanges.update(id.index, id.serial) { $0.isAtServer = false }
    }

    /// The server has done its part.
    private func answered(_ id: ExchangeID, _ outcome: SimulatedOutcome) {
        guard exchanges.contains(id.index, id.serial) else { return }
        exchanges.update(id.index, id.serial) { $0.isAtServer = false }
        if outcome.isSuccess { trigger.noteAnswer(at: context.seconds) }
        guard outcome.isSuccess, let callBackend else { return end(id, outcome) }
        let task = Task(executorPreference: loop) {
            let outcome = await callBackend()
            self.end(id, outcome)
        }
        exchanges.update(id.index, id.serial) { $0.task = task }
    }

    /// The client's timeout has passed.
    func handle(_ value: Int, serial: UInt32) {
        end(ExchangeID(index: value, serial: serial), .failure(.timedOut))
    }

    private func end(_ id: ExchangeID, _ outcome: SimulatedOutcome) {
        guard let exchange = exchanges.remove(id.index, id.serial) else { return }
        if exchange.isAtServer { model.leave(id) }
        exchange.task?.cancel()
        exchange.continuation.resume(returning: outcome)
    }
}

/// A simulated service as the transport of a chain.
struct SimulatedLoader: HTTPLoader {
    let service: SimulatedService
    let group: Int

    /// The service keeps the timeouts of requests itself, as a transport does.
    var keepsTimeouts: Bool { true }

    func load(_ request: HTTPRequest) async -> HTTPResult { await service.load(request, group: group) }
}
