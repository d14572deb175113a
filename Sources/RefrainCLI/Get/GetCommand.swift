internal import Refrain

/// `refrain get`: fetches URLs reliably, so many at a time.
struct GetCommand {
    private var settings: GetSettings

    init(_ settings: GetSettings) { self.settings = settings }

    /// Fetches everything, and says how it went.
    mutating func run() async throws -> ExitStatus {
        if settings.isHeldDown, settings.display.isVerbose {
            Output.error.show("refrain get: \(settings.concurrency) at a time, since no more files may be open\n")
        }
        var (stream, coordinator, plan, queue) = try open()
        Signals.beginWork()
        let settings = settings
        let fetcher = Fetcher(settings, stream: stream)
        await Self.fetchAll(settings, fetcher, &queue, &plan, &coordinator)
        let status = coordinator.finish()
        // A request that ended before the signal came is not undone by it, but the command did not come to its end.
        return Task.isCancelled ? Signals.status : status
    }

    /// Makes all requests, so many at a time.
    private static func fetchAll(
        _ settings: GetSettings,
        _ fetcher: Fetcher,
        _ queue: inout JobQueue,
        _ plan: inout RunPlan,
        _ coordinator: inout OutputCoordinator
    ) async {
        await withTaskGroup(of: Event.self) { group in
            var running = 0
            var isReading = false
            var isPlanning = false
            var isPausing = false
            while true {
                if !isPlanning, !coordinator.isClosed, !Task.isCancelled, let part = queue.takeUnplanned() {
                    isPlanning = true
                    // Beside the requests: their answers are on the way meanwhile.
                    group.addTask { [plan] in .planned(Result { () throws(UsageError) in try plan.planned(part) }) }
                }
                while running < settings.concurrency, coordinator.accepts(queue.taken), !Task.isCancelled {
                    let index = queue.taken
                    guard let job = queue.next() else { break }
                    if let outcome = fetcher.outcomeWithoutRequest(job, number: index) {
                        coordinator.take(outcome)
                        continue
                    }
                    group.addTask { .fetched(await fetcher.fetch(job, number: index)) }
                    running += 1
                }
                if !isReading, queue.needsLine, !coordinator.isClosed, !Task.isCancelled, let stream = queue.stream {
                    isReading = true
                    group.addTask { .read(await stream.next()) }
                }
                if !isPlanning, let skipped = queue.takeSkipped() {
                    coordinator.say("\(skipped) of \(queue.count) were done in an earlier run, and are skipped")
                }
                if plan.hasUnwritten, !isPausing, running > 0 {
                    isPausing = true
                    group.addTask {
                        await RowPause.end()
                        return .paused
                    }
                }
                // Nothing else is under way, so nothing is worth waiting for.
                if isPausing, running == 0, !isReading, !isPlanning { group.cancelAll() }
                switch await group.next() {
                case .fetched(let outcome)?:
                    running -= 1
                    change(&plan, &coordinator) { plan throws(DatabaseError) in try plan.note(outcome) }
                    coordinator.take(outcome)
                case .read(let item)?:
                    isReading = false
                    take(item, &queue, plan, &coordinator)
                case .planned(let jobs)?:
                    isPlanning = false
                    do throws(UsageError) {
                        queue.add(planned: try jobs.get())
                    } catch {
                        coordinator.fail("\(error)")
                        queue.dropUnplanned()
                    }
                case .paused?:
                    isPausing = false
                    change(&plan, &coordinator) { plan throws(DatabaseError) in try plan.writeEnded() }
                case nil:
                    return change(&plan, &coordinator) { plan throws(DatabaseError) in try plan.writeEnded() }
                }
                if coordinator.isClosed { group.cancelAll() }
            }
        }
    }

    private enum Event: Sendable {
        indirect case fetched(FetchOutcome)
        /// A part of the list, with its rows of the state.
        case planned(Result<[GetSettings.Job], UsageError>)
        /// The next item of a list; nil at its end.
        case read(URLStream.Item?)
        /// It is time to write the rows that wait.
        case paused
    }

    /// Takes in an item of a list that is being read.
    private static func take(
        _ item: URLStream.Item?,
        _ queue: inout JobQueue,
        _ plan: RunPlan,
        _ coordinator: inout OutputCoordinator
    ) {
        guard let item else { return queue.endStream() }
        do throws(UsageError) {
            if try queue.add(try item.get(), to: plan) { coordinator.expectFurther() }
        } catch {
            coordinator.refuse(error)
        }
    }

    /// Changes the state, and says where that fails.
    private static func change(
        _ plan: inout RunPlan,
        _ coordinator: inout OutputCoordinator,
        _ body: (inout RunPlan) throws(DatabaseError) -> Void
    ) {
        do throws(DatabaseError) {
            try body(&plan)
        } catch {
            coordinator.fail("\(error)")
        }
    }

    /// Opens all that is written to; where that is not possible, nothing is made or changed.
    ///
    /// The first part of the list gets its rows of the state here, and the rest of it beside the first requests.
    private mutating func open() throws(UsageError) -> (Output, OutputCoordinator, RunPlan, JobQueue) {
        let made = try prepareFolder()
        var plan: RunPlan?
        let known = settings.takeJobs()
        do {
            let stream = try openStream()
            let opened = try RunPlan(settings)
            plan = opened
            var queue = JobQueue(settings, unplanned: consume known)
            queue.add(planned: try opened.planned(queue.takeUnplanned() ?? []))
            return (stream, try OutputCoordinator(settings), opened, queue)
        } catch {
            plan?.state?.withdraw()
            Directory.remove(made)
            throw error
        }
    }

    private func prepareFolder() throws(UsageError) -> [String] {
        guard case .folder(let folder) = settings.destination else { return [] }
        do {
            return try Directory.prepare(folder)
        } catch {
            throw UsageError("--output-dir: \(error)")
        }
    }

    /// Opens what contents go to as they arrive, and refuses a file that cannot be written before anything is fetched.
    ///
    /// A pipe is opened once: its reader takes the end of the first time for the end of all.
    private func openStream() throws(UsageError) -> Output {
        do {
            switch settings.destination {
            case .file(let path):
                if settings.files.createsFolders { try Directory.prepareAbove(path) }
                if let obstacle = Directory.obstacle(toReplacing: path) { throw obstacle }
                try Signals.holdingOff { () throws(LocalFileError) in try FileSink(path: path).discard() }
                return .standard
            case .device(let path): return try Output.named(path)
            default: return .standard
            }
        } catch {
            throw UsageError("--output: \(error)")
        }
    }
}
