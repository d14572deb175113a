#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// One thread that runs the tasks of a command, beside that of the transport.
///
/// What the tasks of a list of files do is short, and none of it waits for another process. The threads of a pool take
/// turns at it and wake each other: a quarter of the changes of context of 10,000 small files are saved here.
final class WorkThread: TaskExecutor, @unchecked Sendable {
    // @unchecked Sendable: the jobs are touched only with the mutex held.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    @exclusivity(unchecked) private var jobs: [UnownedJob] = []
    @exclusivity(unchecked) private var isWaiting = false

    private init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        change.initialize(to: pthread_cond_t())
        pthread_cond_init(change, nil)
    }

    deinit {
        pthread_cond_destroy(change)
        change.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Starts the thread, which lives as long as the process; nil where there are no resources for one.
    static func start() -> WorkThread? {
        let work = WorkThread()
        let context = Unmanaged.passRetained(work)
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let failure = pthread_create(&thread, nil, { WorkThread.run($0) }, context.toOpaque())
        guard failure == 0 else {
            context.release()
            return nil
        }
        #if canImport(Darwin)
        if let thread { pthread_detach(thread) }
        #else
        pthread_detach(thread)
        #endif
        return work
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pthread_mutex_lock(mutex)
        jobs.append(job)
        let wakes = isWaiting
        isWaiting = false
        pthread_mutex_unlock(mutex)
        if wakes { pthread_cond_signal(change) }
    }

    private static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let pointer { Unmanaged<WorkThread>.fromOpaque(pointer).takeRetainedValue().runJobs() }
        return nil
    }

    private func runJobs() -> Never {
        let executor = asUnownedTaskExecutor()
        var taken: [UnownedJob] = []
        while true {
            pthread_mutex_lock(mutex)
            while jobs.isEmpty {
                isWaiting = true
                pthread_cond_wait(change, mutex)
            }
            swap(&jobs, &taken)
            pthread_mutex_unlock(mutex)
            for job in taken { job.runSynchronously(on: executor) }
            taken.removeAll(keepingCapacity: true)
        }
    }
}
