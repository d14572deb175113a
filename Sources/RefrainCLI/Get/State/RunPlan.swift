internal import Refrain

/// What is to be done with each request of a run, by the state of earlier ones.
struct RunPlan: Sendable {
    /// The state that is kept; nil: none is.
    let state: TransferState?
    private let settings: GetSettings

    /// Opens the state of a run, if it has one.
    init(_ settings: GetSettings) throws(UsageError) {
        self.settings = settings
        state = try settings.state.map { path throws(UsageError) in
            try TransferState(path: path, option: settings.stateOption)
        }
    }

    /// Jobs with their rows of the state, which are written where they are missing.
    func planned(_ jobs: [GetSettings.Job]) throws(UsageError) -> [GetSettings.Job] {
        guard let state else { return jobs }
        var hasKeys = false
        let wanted = jobs.map { job in
            var entry = TransferState.Entry(
                identity: job.identity,
                url: SanitizedURL.text(settings.template.url(of: job.request)),
                method: settings.template.method(of: job.request).rawValue,
                name: job.name
            )
            if settings.storesKey(of: job) {
                entry.key = job.request.key ?? Self.makeKey()
                hasKeys = true
            }
            return entry
        }
        do throws(DatabaseError) {
            let rows = try state.register(wanted, isDurable: hasKeys)
            var jobs = jobs
            for (index, row) in rows.enumerated() {
                jobs[index].entry = row ?? wanted[index]
                jobs[index].action = action(row, jobs[index])
            }
            return jobs
        } catch {
            throw UsageError("\(settings.stateOption): \(error)")
        }
    }

    private func action(_ row: TransferState.Entry?, _ job: GetSettings.Job) -> GetSettings.Job.Action {
        guard let row else { return .refuse }
        guard row.outcome == .done else { return .fetch }
        if let file = job.file, Directory.fileSize(file) != row.bytes { return .fetch }
        guard settings.refreshes, job.file != nil else { return .skip }
        return row.validator == nil ? .fetch : .revalidate
    }

    private static func makeKey() -> String {
        var generator = SystemRandomNumberGenerator()
        let parts = (0..<2).map { _ in
            let digits = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return parts.joined()
    }

    /// Writes what requests have come to.
    func note(_ outcomes: [FetchOutcome]) throws(DatabaseError) {
        guard let state else { return }
        let entries = outcomes.compactMap(Self.ended)
        if !entries.isEmpty { try state.note(entries) }
    }

    /// The row of a request that has ended.
    private static func ended(_ outcome: FetchOutcome) -> TransferState.Entry? {
        guard var entry = outcome.entry, !outcome.isSkipped else { return nil }
        entry.attempts = outcome.attempts.count
        entry.status = outcome.status?.rawValue
        entry.ended = WallClock.Instant.now.sinceEpoch.inSeconds
        entry.error = outcome.isSuccess ? nil : outcome.error?.code.rawValue
        guard outcome.isSuccess else {
            let wasCancelled = outcome.error?.code == .cancelled
            entry.outcome = outcome.isPartial ? .partial : wasCancelled ? .pending : .failed
            entry.bytes = outcome.bytes
            return entry
        }
        entry.outcome = .done
        // A content that has not changed since leaves everything as it is.
        guard outcome.status != .notModified else { return entry }
        entry.bytes = outcome.bytes
        entry.validator = outcome.response?.headers["ETag"] ?? outcome.response?.headers["Last-Modified"]
        return entry
    }
}
