// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainQueue

/// `refrain get`: fetches URLs reliably, so many at a time.
struct GetCommand {
    private var settings: GetSettings
    private let screen = StatusLine()
    private let progress: Progress

    init(_ settings: GetSettings) {
        self.settings = settings
        progress = Progress(settings, screen)
    }

    /// Fetches everything, and returns the exit status.
    mutating func run() async throws -> ExitStatus {
        if settings.transports.isHeldDown, settings.display.isVerbose {
            Output.error.show(
                "refrain get: \(settings.transports.concurrency) at a time, since no more files may be open\n"
            )
        }
        var (streams, coordinator, plan, queue) = try await open()
        for remark in settings.display.remarks { coordinator.say(remark) }
        Signals.beginWork()
        let settings = settings
        let quota = try await Self.quota(settings)
        let fetcher = Fetcher(settings, streams: streams, state: plan.state, quota: quota, progress: progress)
        let drawing = Task { [progress] in await progress.run() }
        await Self.fetchAll(settings, fetcher, queue, &plan, coordinator)
        drawing.cancel()
        let status = coordinator.finish()
        // Requests that ended before the signal stay done, but the command was interrupted.
        return Task.isCancelled ? Signals.status : status
    }

    /// Where the runs that share a state keep the limits of `--pace` together.
    private static func quota(_ settings: GetSettings) async throws(UsageError) -> (any QuotaStore)? {
        #if PostgreSQL
        guard let shared = settings.state.shared, settings.options.pace.isGiven else { return nil }
        do throws(QueueError) {
            return try await PostgresQuota(shared.url)
        } catch {
            throw UsageError("--state: \(error)")
        }
        #else
        return nil
        #endif
    }

    /// Makes all requests, so many at a time.
    private static func fetchAll(
        _ settings: GetSettings,
        _ fetcher: Fetcher,
        _ queue: consuming JobQueue,
        _ plan: inout RunPlan,
        _ coordinator: OutputCoordinator
    ) async {
        let board = RunBoard(
            queue,
            workers: settings.transports.concurrency,
            isQuiet: coordinator.isQuiet,
            failsEarly: settings.options.failsEarly
        )
        await withDiscardingTaskGroup { group in
            var isReading = false
            var isPlanning = false
            var isPausing = false
            var isNoted = false
            var isWaiting = false
            var workers = 0
            var isLost = false
            while true {
                let goesOn = !coordinator.isClosed && !isLost && !Task.isCancelled
                if !isPlanning, goesOn, let part = board.withQueue({ $0.takeUnplanned() }) {
                    isPlanning = true
                    // Concurrent with the requests.
                    group.addTask { [plan] in
                        board.post(.planned(await part.planned(by: plan)))
                    }
                }
                for _ in 0..<board.allow(below: goesOn ? coordinator.end : 0) {
                    let worker = workers
                    workers += 1
                    group.addTask(executorPreference: fetcher.executor(ofWorker: worker)) {
                        await fetcher.fetchJobs(of: board, by: worker)
                    }
                }
                if !isReading, goesOn, let stream = board.withQueue({ $0.needsLine ? $0.stream : nil }) {
                    isReading = true
                    group.addTask { board.post(.read(await stream.next())) }
                }
                if !isNoted, !isPlanning, board.withQueue({ $0.isReadToEnd }) {
                    isNoted = true
                    await change(&plan, coordinator) { plan throws(DatabaseError) in
                        if let remark = try await plan.endList() { coordinator.say(remark) }
                    }
                }
                if !isPlanning, let (skipped, count) = board.withQueue({ $0.takeSkipped() }) {
                    let remark = settings.destination.printsContents ? "; their responses are not printed again" : ""
                    let runs = settings.state.inOtherRuns
                    coordinator.say("\(skipped) of \(count) were done \(runs) and are skipped\(remark)")
                }
                let held = goesOn && !isPlanning ? board.withQueue(\.heldCount) : 0
                if held > 0, !isWaiting {
                    isWaiting = true
                    coordinator.say("other runs have \(held) of the requests; waiting for their results")
                }
                if plan.state != nil || coordinator.isQuiet, !isPausing, board.isWorking || held > 0 {
                    isPausing = true
                    group.addTask {
                        await RunPlan.pause()
                        board.post(.paused)
                    }
                }
                if !isReading, !isPlanning, board.isIdle, held == 0 {
                    guard isPausing else { break }
                    // No other request is in flight, so there is nothing to wait for.
                    group.cancelAll()
                }
                for event in await board.events() {
                    switch event {
                    case .fetched(let outcome):
                        let isKept = await change(&plan, coordinator) { plan throws(DatabaseError) in
                            try await plan.note(outcome)
                        }
                        if isKept == false, let job = outcome.job {
                            board.hold(job)
                            coordinator.withdraw(outcome)
                        } else {
                            coordinator.take(outcome)
                        }
                        // Without its outcome an order would be placed again.
                        if isKept == nil, outcome.begun != nil, !isLost {
                            isLost = true
                            coordinator.say("no further request is sent, since its outcome could not be kept")
                        }
                    case .noted(let rows):
                        await change(&plan, coordinator) { plan throws(DatabaseError) in try await plan.note(rows) }
                    case .rested:
                        await change(&plan, coordinator) { plan throws(DatabaseError) in
                            try await plan.add(fetcher.takeRests())
                        }
                    case .ended:
                        break
                    case .read(let item):
                        isReading = false
                        await take(item, board, plan, coordinator)
                    case .planned(let part):
                        isPlanning = false
                        take(part, board, coordinator)
                    case .paused:
                        isPausing = false
                        await change(&plan, coordinator) { plan throws(DatabaseError) in
                            try await plan.write(fetcher.takeSends())
                        }
                    }
                    if coordinator.isClosed { group.cancelAll() }
                }
            }
        }
        await change(&plan, coordinator) { plan throws(DatabaseError) in try await plan.finish() }
    }

    /// Handles a part of the list.
    private static func take(
        _ part: Result<JobQueue.Planned, UsageError>,
        _ board: RunBoard,
        _ coordinator: OutputCoordinator
    ) {
        switch part {
        case .success(let part):
            coordinator.skip(board.withQueue { $0.add(part, isQuiet: coordinator.isQuiet) })
            coordinator.expect(-part.duplicates)
        case .failure(let error):
            coordinator.fail("\(error)")
            board.withQueue { $0.dropUnplanned() }
        }
    }

    /// Handles an item of a list that is being read.
    private static func take(
        _ item: URLStream.Item?,
        _ board: RunBoard,
        _ plan: RunPlan,
        _ coordinator: OutputCoordinator
    ) async {
        guard let item else { return board.withQueue { $0.endStream() } }
        do throws(UsageError) {
            let request = try item.get()
            let list = board.withQueue { $0.list }
            guard let job = try list.withLock({ list throws(UsageError) in try list.add(request) }) else { return }
            let planned = try await plan.planned([job])
            board.withQueue { $0.add(listed: planned) }
            coordinator.expect(1)
        } catch {
            coordinator.refuse(error)
        }
    }

    /// Changes the state; reports a failure, and returns nil then.
    @discardableResult
    private static func change<Value>(
        _ plan: inout RunPlan,
        _ coordinator: OutputCoordinator,
        _ body: (inout RunPlan) async throws(DatabaseError) -> Value
    ) async -> Value? {
        do throws(DatabaseError) {
            return try await body(&plan)
        } catch {
            coordinator.fail("\(error)")
            return nil
        }
    }

    /// Opens all outputs; on a failure nothing is created or changed.
    ///
    /// The first part of the list gets its rows of the state here, the rest while the first requests are in flight.
    private mutating func open() async throws(UsageError) -> ([String: Output], OutputCoordinator, RunPlan, JobQueue) {
        let made = try prepareFolder()
        var plan: RunPlan?
        let (jobs, requests) = settings.takeJobs()
        do {
            let streams = try openStreams()
            let tells = settings.display.showsFailures
            let opened = try RunPlan(settings) { [screen] line in
                if tells { screen.say("refrain get: \(line)\n") }
            }
            plan = opened
            try await opened.beginList()
            var queue = try JobQueue(settings, unplanned: consume jobs, requests: consume requests)
            if let part = queue.takeUnplanned() { queue.add(try await part.planned(by: opened).get()) }
            progress.expect(queue.count - settings.jobCount)
            return (streams, try OutputCoordinator(settings, screen, progress), opened, queue)
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

    /// Opens the outputs of bodies that are written as they arrive, and refuses a file that cannot be written.
    ///
    /// A pipe is opened once, because closing it ends its reader.
    private func openStreams() throws(UsageError) -> [String: Output] {
        var streams: [String: Output] = [:]
        var hint = ""
        if case .remoteNames(let folder) = settings.destination, !folder.isEmpty, !settings.options.files.createsFolders
        {
            switch Directory.kind(of: folder) {
            case .nothing: throw UsageError("--output-dir: \(folder) is not there; --create-dirs makes the folder")
            case .folder: break
            default: throw UsageError("--output-dir: \(folder) is not a folder")
            }
        }
        if case .remoteNames(let folder) = settings.destination,
            folder.isEmpty || Directory.kind(of: folder) == .folder,
            let obstacle = Directory.obstacle(toWritingInto: folder)
        {
            throw UsageError("--remote-name: \(obstacle)")
        }
        do {
            for destination in settings.destination.destinations {
                switch destination {
                case .file(let path):
                    let folder = Directory.above(path)
                    if settings.options.files.createsFolders {
                        try Directory.prepareAbove(path)
                    } else if !folder.isEmpty, Directory.kind(of: folder) == .nothing {
                        hint = "; --create-dirs makes the folder"
                    }
                    if Directory.isMountPoint(path) {
                        _ = try InPlaceSink(path: path)
                        continue
                    }
                    if let obstacle = Directory.obstacle(toReplacing: path) { throw obstacle }
                    try Signals.holdingOff { () throws(HTTPBody.FileError) in
                        try Download.FileSink(path: path).discard()
                    }
                case .device(let path): streams[path] = try Output.named(path)
                default: break
                }
            }
        } catch {
            throw UsageError("--output: \(error)\(hint)")
        }
        // They are written when the requests have been sent.
        let later = [("--cookie-jar", settings.cookies.file), ("--etag-save", settings.options.files.tagFile)]
        for case (let option, let path?) in later where Output.given(path) == nil {
            if let obstacle = Output.obstacle(toReplacing: path) { throw UsageError("\(option): \(obstacle)") }
        }
        return streams
    }
}
