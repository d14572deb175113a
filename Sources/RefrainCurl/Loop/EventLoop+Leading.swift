internal import CurlShim
internal import RefrainCore

extension EventLoop {
    /// Drives a request on the calling thread: sends it, and waits up to ``leaderWait`` for its response.
    ///
    /// Most nearby servers respond within that time. The continuation is then resumed before its task is suspended, and
    /// no thread wakes another one. If there is more to do, the loop's thread takes over.
    func lead(_ transfer: Transfer, _ lead: CommandQueue.Lead) {
        guard driver.expectsConnection(for: transfer), refrain_begin_use() else {
            // Making a connection, with TLS in particular, takes longer than a leader waits.
            return wake(commands.withLock { $0.endLead(with: .start(transfer)) })
        }
        defer { refrain_end_use() }
        // Without TLS all writes are libcurl's own, which raise no signal.
        let mayRaiseSignal = transfer.isTLS || driver.mayHaveTLS
        var signal = refrain_held_signal()
        if mayRaiseSignal { refrain_hold_pipe_signal(&signal) }
        defer { if mayRaiseSignal { refrain_release_pipe_signal(&signal) } }
        driver.now = transfer.submittedAt
        driver.carryOut(.start(transfer))
        driver.drive()
        let limit = driver.now.after(leaderWait)
        // A request that is not sent yet waits for a connection, which takes longer.
        while !driver.isIdle, transfer.sends > 0, driver.now < limit {
            let wait = limit &- driver.now
            var sockets = refrain_sockets()
            // From here on, until it owns the loop again, the leader may use neither the driver nor the transfer.
            guard refrain_list_sockets(multi, &sockets), commands.withLock({ $0.leaderWaits() }) else { break }
            let isReady = refrain_wait_for_sockets(&sockets, wait)
            guard commands.withLock({ $0.leaderGoesOn(lead) }) else { return }
            guard isReady else { break }
            driver.drive()
        }
        wake(commands.withLock { $0.endLead(isDone: driver.isIdle) })
    }
}
