// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// Runs the jobs of a request's task on a task that awaits the request.
///
/// When the transport has the response, the awaiting task is resumed to validate and decode it, and then returns it:
/// one job for the thread pool where a task of its own would need two. While no task awaits the request, or only
/// tasks with an executor of their own, its jobs run in a task made for them.
///
/// It holds what the task runs as well.
final class CallerExecutor: TaskExecutor {
    let request: Request
    /// What is sent for the request, through the pipeline.
    let prepared: HTTPRequest
    let pipeline: RequestPipeline
    /// The request among those that a reset waits for; nil: a reset is in progress, and refuses it.
    let admitted: InFlightContext?

    /// Registers the request with the guard of the pipeline; its task, which ``start()`` makes, removes it.
    init(for request: Request, sending prepared: HTTPRequest, _ pipeline: RequestPipeline) {
        self.request = request
        self.prepared = prepared
        self.pipeline = pipeline
        admitted = pipeline.admission.requests.enter(request)
    }

    /// Starts the request's task.
    func start() -> Task<Void, Never> {
        admitted?.starting(makeTask) ?? makeTask()
    }

    private func makeTask() -> Task<Void, Never> {
        Task(executorPreference: self) { await self.request.run(self) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        switch request.jobDestination {
        case .here: job.runSynchronously(on: asUnownedTaskExecutor())
        case .with(let waiter): waiter.resume(returning: Job(job: job, executor: self))
        case .elsewhere: Task { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// Where a job runs.
    enum Destination {
        /// On the current thread.
        case here
        /// On a task that awaits the request.
        case with(UnsafeContinuation<Job?, Never>)
        /// In a task of its own.
        case elsewhere
    }

    /// A job of the request's task.
    struct Job {
        fileprivate let job: UnownedJob
        fileprivate let executor: CallerExecutor

        /// Runs the job up to the next suspension of the request's task.
        func run() { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
    }
}
