internal import CurlShim
internal import RefrainHTTP

extension TransferDriver {
    /// The response will not be read: reads a short rest so that the connection can be reused.
    func discard(_ transfer: Transfer) {
        guard !transfer.isFinished else { return }
        guard transfer.canBeDrained, transfer.host?.hasWaiting != true else {
            end(transfer, transfer.failure(.cancelled, message: "the body was dropped unread"))
            return
        }
        transfer.isDraining = true
        transfer.drainLimit = now.after(UnreadBody.timeout.delayInNanoseconds)
        nextLimit = min(nextLimit, transfer.drainLimit)
        transfer.host?.appendDraining(transfer)
        resume(transfer)
    }

    /// Goes on with a transfer; libcurl forgets what its callers refuse now, and would go on behind it.
    func resume(_ transfer: Transfer) {
        let result = transfer.unpause()
        if result != CURLE_OK { end(transfer, transfer.outcome(of: result)) }
    }
}
