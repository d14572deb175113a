internal import CurlShim

extension TransferDriver {
    /// Takes a handle back from libcurl.
    func takeBack(_ slot: EasyHandle) {
        guard let multi else { return }
        keepingPipeAction { curl_multi_remove_handle(multi, slot.easy) }
    }

    /// Leaves a handle to libcurl until the name server has answered.
    ///
    /// libcurl keeps the answer, for those that look for the same name by then, and for the next attempt: a resolver
    /// that asks several servers in turn may need longer than an attempt has to connect, and would never come to an end
    /// otherwise. Nor does libcurl (before 7.87) wait for it.
    func leave(_ slot: EasyHandle) {
        slot.leaveLookup()
        lookups.append(slot)
    }

    /// Releases a handle that was left to libcurl, now that it is done.
    func releaseLookup(_ slot: EasyHandle) {
        guard let index = lookups.firstIndex(where: { $0 === slot }) else { return }
        lookups.swapAt(index, lookups.count - 1)
        lookups.removeLast()
        slot.isLookingUp = false
        takeBack(slot)
        slot.free()
    }

    /// Takes all back, for which libcurl may wait for the name servers; only at the end of the loop.
    func releaseLookups() {
        while let slot = lookups.last { releaseLookup(slot) }
    }
}
