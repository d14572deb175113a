internal import CurlShim
internal import RefrainCore

/// Tasks can prefer the loop's thread: then neither a response nor the next request wakes another thread.
///
/// While a job runs the loop does nothing else, so this is for tasks that compute little and never block.
extension EventLoop: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if refrain_current_loop() == Unmanaged.passUnretained(self).toOpaque() { return jobs.append(job) }
        let how: CommandQueue.Wake? = commands.withLock { commands in
            if commands.phase == .idle, !begin(&commands) { return nil }
            return commands.phase == .running ? commands.add(.run(job)) : nil
        }
        if let how { wake(how) } else { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }

    /// Runs the pending jobs, and those that they enqueue.
    func runJobs() {
        let executor = asUnownedTaskExecutor()
        var next = 0
        while next < jobs.count {
            jobs[next].runSynchronously(on: executor)
            next += 1
        }
        jobs.removeAll(keepingCapacity: next < 1024)
        if MonotonicTime.now > driver.now.after(Self.longBlock) { driver.wasBlocked = true }
    }

    /// The duration of jobs, in nanoseconds, from which on a limit may have passed only because sockets were not read.
    private static let longBlock: Int64 = 10_000_000

    /// Moves the jobs to the global executor, because the thread ends.
    func moveJobs() {
        for job in jobs { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
        jobs = []
    }
}
