internal import Dispatch

/// Where URLSession is told to make, to begin or to cancel a task; the order of what it is told is kept.
///
/// FoundationNetworking has one queue for all sessions of the process, and reads the streams of bodies on it. While the
/// source of one is silent, whoever tells it something waits. So it is told apart from the queue where exchanges end:
/// then their limits hold, and they can be cancelled, although no byte moves.
struct TaskOrders: Sendable {
    #if !canImport(Darwin)
    private let queue = DispatchQueue(label: "refrain-urlsession-tasks")
    #endif

    func give(_ order: @escaping @Sendable () -> Void) {
        #if canImport(Darwin)
        order()
        #else
        queue.async(execute: order)
        #endif
    }

    /// Gives an order of which something comes; that is passed on where the caller is, on `caller`.
    func give<Answer: Sendable>(
        from caller: DispatchQueue,
        _ order: @escaping @Sendable () -> Answer,
        then: @escaping @Sendable (Answer) -> Void
    ) {
        #if canImport(Darwin)
        then(order())
        #else
        queue.async {
            let answer = order()
            caller.async { then(answer) }
        }
        #endif
    }
}
