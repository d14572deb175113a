internal import RefrainCore

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
