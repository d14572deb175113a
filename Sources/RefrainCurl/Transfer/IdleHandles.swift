/// The handles that wait for their next transfer.
struct IdleHandles {
    private var handles: [EasyHandle] = []

    private static let capacity = 256

    /// A handle that asks the same of servers; what it asks cannot be taken back.
    mutating func take(_ rule: TLSOptions) -> EasyHandle? {
        guard let index = handles.lastIndex(where: { $0.trust == rule }) else { return nil }
        return handles.remove(at: index)
    }

    /// Takes a handle that the multi handle has released.
    mutating func put(_ handle: EasyHandle) {
        handle.transfer = nil
        if handles.count < Self.capacity { handles.append(handle) } else { handle.free() }
    }

    /// Frees them all.
    mutating func free() {
        for handle in handles { handle.free() }
        handles = []
    }
}
