/// What the transfers of a loop share.
final class LoopRound {
    /// The moment at which the round began: read once a round, so that callbacks cost no clock read.
    var now = Moment.now

    /// No transfer runs out of time before this moment.
    var nextLimit = Moment.never

    // As in the driver: no checks.
    /// The connections that were made for them.
    @exclusivity(unchecked) var connections = OpenConnections()
    @exclusivity(unchecked) private var pipes: [BodyPipe] = []

    /// Notes that a pipe has something for a reader who waits.
    func note(_ pipe: BodyPipe) { pipes.append(pipe) }

    /// Wakes the readers who wait: once for all that has come for them in this round.
    func wakeReaders() {
        guard !pipes.isEmpty else { return }
        for pipe in pipes { pipe.wakeReader() }
        pipes.removeAll(keepingCapacity: true)
    }
}

extension LoopRound {
    /// The round of transfers that no loop has taken over.
    // nonisolated(unsafe): nobody changes it. Only a loop does that, and only with the round that it has made itself.
    nonisolated(unsafe) static let none = LoopRound()
}
