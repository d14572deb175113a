// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import RefrainCore

/// Makes a call that blocks away from the threads of the tasks, which are few: with all of them blocked no claim of the
/// process is renewed.
///
/// Those of the global queues are the same ones on Linux; a serial queue has a thread of its own.
func blocking<Value>(
    on queue: DispatchQueue = DispatchQueue(label: "refrain.blocking"),
    _ body: @escaping @Sendable () throws(QueueError) -> sending Value
) async throws(QueueError) -> sending Value {
    let result: Result<Value, QueueError> = await resumption { continuation in
        queue.async { continuation.resume(returning: Result { () throws(QueueError) in try body() }) }
    }
    return try result.get()
}

/// Runs the blocking calls of a store one after the other, away from the threads of the tasks.
///
/// Writes that arrive while another one is on its way to the disk share one transaction (group commit): with sixteen
/// requests in flight the disk is waited for a few times, not sixteen times.
package final class StoreThread: @unchecked Sendable {
    // @unchecked Sendable: the store is used on the serial queue alone; the rest is immutable.
    private let store: any QueueStore
    private let queue = DispatchQueue(label: "refrain.queue")
    let lease: Duration?
    let pollInterval: Duration

    private let enqueues = Locked(Waiting<NewRequest, Int64?>())
    private let begins = Locked(Waiting<Claim, Bool>())
    private let results = Locked(Waiting<ClaimResult, Bool>())

    init(_ store: sending any QueueStore) {
        lease = store.lease
        pollInterval = store.pollInterval
        self.store = store
    }

    /// Opens a store on its thread.
    static func open(_ make: @escaping @Sendable () throws(QueueError) -> any QueueStore) async throws(QueueError)
        -> StoreThread
    {
        try await blocking { () throws(QueueError) in StoreThread(try make()) }
    }

    /// Makes a call.
    package func call<Value: Sendable>(
        _ body: @escaping @Sendable (any QueueStore) throws(QueueError) -> Value
    ) async throws(QueueError) -> Value {
        try await blocking(on: queue) { [self] () throws(QueueError) in try body(store) }
    }

    func enqueue(_ request: NewRequest) async throws(QueueError) -> Int64? {
        try await write(request, enqueues) { store, all throws(QueueError) in try store.enqueue(all) }
    }

    func begin(_ claim: Claim) async throws(QueueError) -> Bool {
        try await write(claim, begins) { store, all throws(QueueError) in try store.begin(all) }
    }

    func finish(_ result: ClaimResult) async throws(QueueError) -> Bool {
        try await write(result, results) { store, all throws(QueueError) in try store.finish(all) }
    }

    // MARK: Group commit

    /// The writes of one kind that wait for the store.
    private struct Waiting<Input: Sendable, Output: Sendable> {
        var inputs: [Input] = []
        var continuations: [UnsafeContinuation<Result<Output, QueueError>, Never>] = []
        var isScheduled = false
    }

    /// The most writes of one transaction, so that others have their turn.
    private static let groupLimit = 1000

    private func write<Input: Sendable, Output: Sendable>(
        _ input: Input,
        _ waiting: Locked<Waiting<Input, Output>>,
        _ body: @escaping @Sendable (any QueueStore, [Input]) throws(QueueError) -> [Output]
    ) async throws(QueueError) -> Output {
        let result: Result<Output, QueueError> = await resumption { continuation in
            let isFirst = waiting.withLock { waiting in
                waiting.inputs.append(input)
                waiting.continuations.append(continuation)
                defer { waiting.isScheduled = true }
                return !waiting.isScheduled
            }
            if isFirst { schedule(waiting, body) }
        }
        return try result.get()
    }

    private func schedule<Input: Sendable, Output: Sendable>(
        _ waiting: Locked<Waiting<Input, Output>>,
        _ body: @escaping @Sendable (any QueueStore, [Input]) throws(QueueError) -> [Output]
    ) {
        queue.async { [self] in
            let (inputs, continuations, hasMore) = waiting.withLock { waiting in
                let count = min(Self.groupLimit, waiting.inputs.count)
                let group = (Array(waiting.inputs[..<count]), Array(waiting.continuations[..<count]))
                waiting.inputs.removeFirst(count)
                waiting.continuations.removeFirst(count)
                waiting.isScheduled = !waiting.inputs.isEmpty
                return (group.0, group.1, waiting.isScheduled)
            }
            let result = Result { () throws(QueueError) in try body(store, inputs) }
            for (index, continuation) in continuations.enumerated() {
                continuation.resume(returning: result.map { $0[index] })
            }
            if hasMore { schedule(waiting, body) }
        }
    }
}
