internal import Refrain

/// `refrain get`: fetches URLs reliably, so many at a time.
struct GetCommand {
    private let settings: GetSettings

    init(_ settings: GetSettings) { self.settings = settings }

    /// Fetches everything, and says how it went.
    func run() async throws -> ExitStatus {
        if settings.isHeldDown, settings.isVerbose {
            Output.error.show("refrain get: \(settings.concurrency) at a time, since no more files may be open\n")
        }
        var (stream, desk) = try open()
        Signals.beginWork()
        let fetcher = Fetcher(settings, stream: stream)
        await withTaskGroup(of: FetchOutcome.self) { group in
            var next = 0
            var running = 0
            while true {
                while running < settings.concurrency, next < settings.jobs.count, desk.accepts(next), !Task.isCancelled
                {
                    let index = next
                    group.addTask { await fetcher.fetch(index) }
                    next += 1
                    running += 1
                }
                guard let outcome = await group.next() else { break }
                running -= 1
                desk.take(outcome)
                if desk.isClosed { group.cancelAll() }
            }
        }
        let status = desk.finish()
        // A request that ended before the signal came is not undone by it, but the command did not come to its end.
        return Task.isCancelled ? Signals.status : status
    }

    /// Opens all that is written to; where that is not possible, nothing is made or changed.
    private func open() throws(UsageError) -> (Output, Desk) {
        let made = try prepareFolder()
        do {
            return (try openStream(), try Desk(settings))
        } catch {
            Folder.remove(made)
            throw error
        }
    }

    private func prepareFolder() throws(UsageError) -> [String] {
        guard case .folder(let folder) = settings.destination else { return [] }
        do {
            return try Folder.prepare(folder)
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
                if let obstacle = Folder.obstacle(toReplacing: path) { throw obstacle }
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
