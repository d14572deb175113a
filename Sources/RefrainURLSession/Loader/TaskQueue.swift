internal import Dispatch

/// A serial queue for calls that make, start or cancel URLSession tasks.
///
/// FoundationNetworking has one queue for all sessions of the process, and reads body streams on it. While a body
/// source is blocked, every call into it blocks. A queue separate from that of the exchanges keeps their timeouts and
/// cancellations working.
struct TaskQueue: Sendable {
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

    /// Runs a call and passes its result to a closure on the queue `caller`.
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
