internal import CurlShim
internal import RefrainCore

extension EventLoop {
    /// Drives a request on the caller's thread: it is sent at once, and its answer is awaited for a moment.
    ///
    /// Most answers from nearby come within that time. The continuation is then resumed before its task was suspended,
    /// and no thread has woken another one. Where there is more to do than that, the loop's thread does it.
    func lead(_ transfer: Transfer, _ lead: CommandQueue.Lead) {
        guard driver.expectsConnection(for: transfer), refrain_begin_use() else {
            // To connect, with TLS above all, takes long.
            return wake(inbox.withLock { $0.endLead(with: .start(transfer)) })
        }
        defer { refrain_end_use() }
        // Where there was no TLS, all writes are libcurl's own, which raise no signal.
        let mayRaiseSignal = transfer.isTLS || driver.mayHaveTLS
        var signal = refrain_held_signal()
        if mayRaiseSignal { refrain_hold_pipe_signal(&signal) }
        defer { if mayRaiseSignal { refrain_release_pipe_signal(&signal) } }
        driver.now = transfer.submittedAt
        driver.carryOut(.start(transfer))
        driver.drive()
        let limit = driver.now.after(leaderWait)
        // What is not sent by now waits for a connection, and that takes longer.
        while !driver.isIdle, transfer.sends > 0, driver.now < limit {
            let wait = limit &- driver.now
            var sockets = refrain_sockets()
            // From here on, until it goes on, the leader may touch neither the driver nor the transfer.
            guard refrain_list_sockets(multi, &sockets), inbox.withLock({ $0.leaderWaits() }) else { break }
            let hasCome = refrain_wait_for_sockets(&sockets, wait)
            guard inbox.withLock({ $0.leaderGoesOn(lead) }) else { return }
            guard hasCome else { break }
            driver.drive()
        }
        wake(inbox.withLock { $0.endLead(isDone: driver.isIdle) })
    }
}
