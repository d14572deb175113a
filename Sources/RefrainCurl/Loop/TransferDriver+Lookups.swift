internal import CurlShim

extension TransferDriver {
    /// Takes a handle back from libcurl.
    func takeBack(_ slot: EasyHandle) {
        guard let multi else { return }
        keepingPipeAction { curl_multi_remove_handle(multi, slot.easy) }
    }

    /// Leaves a handle to libcurl until the name server has answered, where libcurl would wait for that now.
    func leave(_ slot: EasyHandle) {
        slot.leaveLookup()
        lookups.append(slot)
    }

    /// Releases a handle that was left to libcurl, now that it is done.
    func releaseLookup(_ slot: EasyHandle) {
        guard let index = lookups.firstIndex(where: { $0 === slot }) else { return }
        lookups.swapAt(index, lookups.count - 1)
        lookups.removeLast()
        takeBack(slot)
        slot.free()
    }

    /// Waits for the name servers that libcurl waits for; only at the end of the loop.
    func releaseLookups() {
        while let slot = lookups.last { releaseLookup(slot) }
    }
}
