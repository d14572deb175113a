// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import RefrainTesting

/// An executor that tells when its tasks have nothing to do: each has ended, or waits for something.
///
/// What a task waits for need not signal that a task waits: when all jobs have run, the task waits.
public final class TrackedExecutor: TaskExecutor {
    // One thread, so that tasks begin in the order in which they were made.
    private let queue = DispatchQueue(label: "tracked tasks")
    private let pending = Observed(0)

    /// Makes the executor.
    public init() {}

    /// Adds a job to the queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pending.withLock { $0 += 1 }
        queue.async { [self] in
            job.runSynchronously(on: asUnownedTaskExecutor())
            pending.withLock { $0 -= 1 }
        }
    }

    /// Returns when no job is left, or when the calling task is cancelled.
    public func idle() async { await pending.wait { $0 == 0 } }
}
