internal import CurlShim
internal import RefrainCore

/// Tasks can prefer the loop's thread: then no other thread is woken for an answer, nor by the next request.
///
/// While a job runs, the loop does nothing else, so it is for tasks that compute little and wait for nothing by
/// blocking.
extension EventLoop: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if refrain_current_loop() == Unmanaged.passUnretained(self).toOpaque() { return jobs.append(job) }
        let how: CommandQueue.Wake? = inbox.withLock { inbox in
            if inbox.phase == .idle, !begin(&inbox) { return nil }
            return inbox.phase == .running ? inbox.add(.run(job)) : nil
        }
        if let how { wake(how) } else { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }

    /// Runs the jobs that are there, and those that they bring about.
    func runJobs() {
        let executor = asUnownedTaskExecutor()
        var next = 0
        while next < jobs.count {
            jobs[next].runSynchronously(on: executor)
            next += 1
        }
        jobs.removeAll(keepingCapacity: next < 1024)
        if MonotonicTime.now > driver.now.after(Self.longAbsence) { driver.wasAway = true }
    }

    /// From here on limits may pass that would not have if the loop had looked at its sockets, in nanoseconds.
    private static let longAbsence: Int64 = 10_000_000

    /// Leaves jobs to the other threads, since this one ends.
    func leaveJobs() {
        for job in jobs { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
        jobs = []
    }
}
