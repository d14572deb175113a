extension Transfer {
    /// What few transfers need, allocated on demand: there is a transfer for each request that waits.
    final class RareState {
        fileprivate var failedHere: [AddressKey] = []
        fileprivate var sentAtRefusal: Int64 = 0
        fileprivate var shownKey: String?
        fileprivate var drainLimit = MonotonicTime.never
        fileprivate var drained = 0
    }

    private var rareState: RareState {
        if let rare { return rare }
        let new = RareState()
        rare = new
        return new
    }

    /// The addresses that this transfer itself could not connect to.
    var failedHere: [AddressKey] {
        get { rare?.failedHere ?? [] }
        set { rareState.failedHere = newValue }
    }

    /// How many bytes may have left when libcurl was kept from sending again.
    var sentAtRefusal: Int64 {
        get { rare?.sentAtRefusal ?? 0 }
        set { rareState.sentAtRefusal = newValue }
    }

    /// The public key that the server has shown, where keys are pinned.
    var shownKey: String? {
        get { rare?.shownKey }
        set { rareState.shownKey = newValue }
    }

    /// When the rest of a body that was dropped unread is given up.
    var drainLimit: MonotonicTime {
        get { rare?.drainLimit ?? .never }
        set { rareState.drainLimit = newValue }
    }

    /// How much of such a rest was read.
    var drained: Int {
        get { rare?.drained ?? 0 }
        set { rareState.drained = newValue }
    }
}
