public import Dispatch

extension HTTPLoader {
    /// Resets the loader, and leaves `group` when no request is in flight.
    ///
    /// ```swift
    /// let group = DispatchGroup()
    /// loader.reset(with: group)
    /// group.notify(queue: .main) { print("no request is in flight") }
    /// ```
    public func reset(with group: DispatchGroup) {
        group.enter()
        reset { group.leave() }
    }
}
