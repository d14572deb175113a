internal import RefrainHTTP

/// What the transfers of a loop share.
final class LoopIteration {
    /// The moment at which the round began: read once a round, so that callbacks cost no clock read.
    var now = MonotonicTime.now

    /// No transfer runs out of time before this moment.
    var nextLimit = MonotonicTime.never

    // As in the driver: no checks.
    /// Whether a byte went in either direction since the loop has waited.
    @exclusivity(unchecked) var hadActivity = false
    /// The connections that were made for them.
    @exclusivity(unchecked) var connections = ConnectionTable()
    /// Where no connection could be made to.
    @exclusivity(unchecked) var failedAddresses = FailedAddresses()
    @exclusivity(unchecked) private var pipes: [ByteChannel] = []
    /// Transfers whose responses are to be handed over.
    @exclusivity(unchecked) private var answered: [Transfer] = []

    /// Notes a transfer whose response is handed over with what comes of its body in this round.
    func note(_ transfer: Transfer) { answered.append(transfer) }

    /// Notes that a pipe has something for its waiting reader.
    func note(_ pipe: ByteChannel) { pipes.append(pipe) }

    /// Wakes the readers that wait: once for all that has come for them in this round.
    func wakeReaders() {
        if !answered.isEmpty {
            // Those that have ended get their responses as they are told of their end.
            for transfer in answered { transfer.handOver() }
            answered.removeAll(keepingCapacity: true)
        }
        guard !pipes.isEmpty else { return }
        for pipe in pipes { pipe.wakeReader() }
        pipes.removeAll(keepingCapacity: true)
    }
}

extension LoopIteration {
    /// The round of transfers that no loop has taken over.
    // nonisolated(unsafe): never changed. A loop changes only the iterations that it has made.
    nonisolated(unsafe) static let none = LoopIteration()
}
