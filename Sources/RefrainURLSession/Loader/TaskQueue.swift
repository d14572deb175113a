// SPDX-License-Identifier: Apache-2.0
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

    /// Runs a call on this queue.
    func run(_ call: @escaping @Sendable () -> Void) {
        #if canImport(Darwin)
        call()
        #else
        queue.async(execute: call)
        #endif
    }

    /// Runs a call and passes its result to a closure on the queue `caller`.
    func run<Answer: Sendable>(
        from caller: DispatchQueue,
        _ call: @escaping @Sendable () -> Answer,
        then: @escaping @Sendable (Answer) -> Void
    ) {
        #if canImport(Darwin)
        then(call())
        #else
        queue.async {
            let answer = call()
            caller.async { then(answer) }
        }
        #endif
    }
}
