extension Transfer {
    /// State that few transfers need, allocated on demand, because each waiting request has a transfer.
    final class ColdState {
        fileprivate var failedHere: [AddressKey] = []
        fileprivate var sentAtRefusal: Int64 = 0
        fileprivate var shownKey: String?
        fileprivate var drainLimit = MonotonicTime.never
        fileprivate var drained = 0
    }

    private var coldState: ColdState {
        if let cold { return cold }
        let new = ColdState()
        cold = new
        return new
    }

    /// The addresses to which this transfer failed to connect.
    var failedHere: [AddressKey] {
        get { cold?.failedHere ?? [] }
        set { coldState.failedHere = newValue }
    }

    /// The number of bytes that may have been sent when libcurl was prevented from sending again.
    var sentAtRefusal: Int64 {
        get { cold?.sentAtRefusal ?? 0 }
        set { coldState.sentAtRefusal = newValue }
    }

    /// The public key of the server, if keys are pinned.
    var shownKey: String? {
        get { cold?.shownKey }
        set { coldState.shownKey = newValue }
    }

    /// The deadline for the rest of a body that is not read.
    var drainLimit: MonotonicTime {
        get { cold?.drainLimit ?? .never }
        set { coldState.drainLimit = newValue }
    }

    /// The bytes of such a rest that were read.
    var drained: Int {
        get { cold?.drained ?? 0 }
        set { coldState.drained = newValue }
    }
}
