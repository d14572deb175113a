// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// An executor with a thread of its own, for tasks that must not wait for a thread of the shared pool.
///
/// Jobs run one after the other, in the order in which they become ready.
public final class OwnThread: TaskExecutor {
    // A serial queue has a thread beside those of the pool.
    private let queue = DispatchQueue(label: "test thread")

    /// Makes the executor.
    public init() {}

    /// Adds a job to the queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
