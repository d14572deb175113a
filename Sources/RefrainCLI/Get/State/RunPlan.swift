// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainQueue

/// The action for each request of a run, according to the state of earlier runs.
struct RunPlan: Sendable {
    /// The state; nil: none is kept.
    let state: ListState?
    private let settings: GetSettings
    /// The rows of ended requests that are not written yet.
    private var ended: [ListEntry] = []

    /// Opens the state of a run, if it has one; `say` tells the user what becomes of it.
    init(_ settings: GetSettings, say: @escaping @Sendable (String) -> Void = { _ in }) throws(UsageError) {
        self.settings = settings
        state = try Self.open(settings, say)
    }

    private static func open(
        _ settings: GetSettings,
        _ say: @escaping @Sendable (String) -> Void
    ) throws(UsageError) -> ListState? {
        let state = settings.state
        #if PostgreSQL
        if let shared = state.shared {
            let folder: String? = if case .folder(let folder) = settings.destination { folder } else { nil }
            do throws(UsageError) {
                return try ListState(shared, folder: folder, say: say)
            } catch {
                throw error.described(as: "\(state.option): \(error)")
            }
        }
        #endif
        guard let path = state.file else { return nil }
        return try ListState(path: path, option: state.option, list: state.rereadList, say: say)
    }

    /// Returns jobs with their rows of the state; missing rows are written in one transaction.
    func planned(_ jobs: [FetchJob]) async throws(UsageError) -> [FetchJob] {
        guard let state, !jobs.isEmpty else { return jobs }
        do throws(DatabaseError) {
            let requests = jobs.map(request)
            // What must not be done twice is on the disk before it is sent.
            let isDurable = zip(requests, jobs).contains { $0.key != nil || settings.isSentOnce($1) }
            let rows = try await state.register(requests, isDurable: isDurable) { index in
                jobs[index].file.map { Directory.kind(of: $0) == .nothing } ?? false
            }
            var actions = await actions(rows, jobs)
            // Those that are not sent any more.
            var dropped: [Int] = []
            var entries = jobs.indices.map { rows[$0] ?? ListEntry(requests[$0], nil) }
            for index in jobs.indices {
                if entries[index].key == nil { entries[index].key = requests[index].key }
                switch actions[index] {
                case .leave where entries[index].outcome != .unknown:
                    (entries[index].outcome, entries[index].attempts) = (.unknown, 0)
                    dropped.append(index)
                case .giveUp where entries[index].outcome == .pending:
                    let runs = "\(RequestQueue.maxClaims) runs that sent it ended before they wrote a result"
                    (entries[index].outcome, entries[index].attempts) = (.failed, 0)
                    (entries[index].ended, entries[index].error) = (Self.now, ListEntry.abandonment + runs)
                    dropped.append(index)
                // The server has forgotten a key that was generated.
                case .resend where jobs[index].request.key == nil && entries[index].key != nil:
                    entries[index].key = requests[index].key
                default: break
                }
            }
            let changed = jobs.indices.filter { actions[$0].isChange } + dropped
            let areClaimed = try await state.claim(changed.map { entries[$0] })
            for (index, isClaimed) in zip(changed, areClaimed) where !isClaimed { actions[index] = .wait }
            let noted = dropped.filter { actions[$0] != .wait }.map { entries[$0] }
            if !noted.isEmpty { _ = try await state.note(noted) }
            return jobs.indices.map { FetchJob(jobs[$0], entry: entries[$0], action: actions[$0]) }
        } catch {
            throw UsageError("\(settings.state.option): \(error)")
        }
    }

    /// Notes that requests of the list may be missing in the state.
    func beginList() async throws(UsageError) {
        do throws(DatabaseError) {
            try await state?.note(list: settings.state.listName, isRead: false)
        } catch {
            throw UsageError("\(settings.state.option): \(error)")
        }
    }

    /// Notes that all requests of the list are in the state, and forgets those that an earlier run of it has left.
    ///
    /// - Returns: a message; nil if nothing was forgotten.
    func endList() async throws(DatabaseError) -> String? {
        guard let state else { return nil }
        try await state.note(list: settings.state.listName, isRead: true)
        let (count, files) = try await state.forgetLeftovers()
        guard count > 0 else { return nil }
        if case .folder(let folder) = settings.destination {
            for file in files { PartialNames(Directory.path(folder, file)).removeUnused() }
        }
        return "unfinished requests of an earlier run that are not in the list any more: \(count); they are forgotten"
    }

    /// What a row has of a job.
    private func request(_ job: FetchJob) -> RequestList.New {
        let key = settings.storesKey(of: job) ? job.request.key ?? settings.template.givenKey ?? Self.makeKey() : nil
        return RequestList.New(
            name: job.identity,
            earlierName: job.oldIdentity.map(EarlierState.row),
            method: settings.template.method(of: job.request).rawValue,
            url: SanitizedURL.text(settings.template.url(of: job.request)),
            key: key,
            file: job.name,
            target: job.name
        )
    }

    /// What to do for jobs: a look at each one's file, for half of them at a time.
    private func actions(_ rows: [ListEntry?], _ jobs: [FetchJob]) async -> [FetchJob.Action] {
        let middle = jobs.count / 2
        async let first = jobs[..<middle].indices.map { action(rows[$0], jobs[$0]) }
        let second = jobs[middle...].indices.map { action(rows[$0], jobs[$0]) }
        return await first + second
    }

    private func action(_ row: ListEntry?, _ job: FetchJob) -> FetchJob.Action {
        guard let row else { return .refuse }
        guard row.owner == nil else { return .wait }
        if row.isElsewhere { return row.outcome == .done ? .skip : .giveUp }
        guard row.outcome == .done else {
            if isUnknown(row, job) { return settings.state.resendsUnknown ? .resend : .leave }
            return row.isAbandoned || endsItsRuns(row, job) ? .giveUp : .fetch
        }
        // What changes something on the server is done once, whatever has become of its response.
        guard row.settled == nil, settings.template.method(of: job.request).isSafe else { return .skip }
        // What a file is called whose name was chosen is not known here.
        if let file = job.file, !settings.options.files.choosesNames {
            guard Directory.fileSize(file) == row.bytes, job.digest?.isOf(file) ?? true else { return .fetch }
        }
        if job.file == nil, settings.destination.printsContents, settings.canRepeat(job) { return .fetch }
        guard settings.state.refreshes, job.file != nil else { return .skip }
        // A condition of the command is one for the response itself, which a 304 does not repeat.
        return row.validator == nil || settings.options.policy.condition != nil ? .fetch : .revalidate
    }

    /// Whether the server may have done a request that it would do again.
    private func isUnknown(_ row: ListEntry, _ job: FetchJob) -> Bool {
        guard !settings.template.isReplayUnsafe else { return false }
        if settings.isSentOnce(job) { return row.outcome == .unknown || (row.outcome == .pending && row.begun != nil) }
        guard settings.dependsOnKey(job), let begun = row.begun else { return row.outcome == .unknown }
        let age = Self.now - begun
        // Also if the clock was set back, because the age of the key is unknown then.
        return row.key == nil || age < -Self.clockTolerance || age >= settings.template.keyLifetime.inSeconds
    }

    /// Whether run after run ended while it was under way, as of a request whose answer ends the process.
    ///
    /// Not if a part of its file has come, which a run goes on with.
    private func endsItsRuns(_ row: ListEntry, _ job: FetchJob) -> Bool {
        guard row.outcome == .pending || row.isLeftBehind, row.claims >= RequestQueue.maxClaims else { return false }
        return job.file.flatMap { PartialNames($0).size } ?? 0 == 0
    }

    /// In seconds since 1970.
    private static var now: Double { WallClock.Instant.now.sinceEpoch.inSeconds }

    /// By how many seconds the clock may have been set back since a key was sent.
    private static let clockTolerance = 60.0

    /// A new key.
    private static func makeKey() -> String {
        var generator = SystemRandomNumberGenerator()
        let parts = (0..<2).map { _ in
            let digits = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return parts.joined()
    }

    /// When rows were written last; nil: never.
    private var lastWrite: ContinuousClock.Instant?
    /// Rows of small files that end within this time of each other are written in one transaction.
    private static let writeInterval = Duration.milliseconds(100)
    /// The maximum number of unwritten rows.
    private static let maximumRows = 2000
    /// The row of a body of this size or more is written at once, so that a crash does not cost its download.
    private static let urgentSize: Int64 = 1 << 20

    /// Records the outcome of a request.
    ///
    /// The row of a request that must not be sent twice, that of a large body, and the first one after a pause are
    /// written at once, and so is each one in a run that follows a killed one: a request that has ended would count as
    /// one that was under way if the process is killed again. Other rows wait for a tenth of a second.
    ///
    /// - Returns: false if another run has taken the request, since the claim of this one had ended.
    mutating func note(_ outcome: FetchOutcome) async throws(DatabaseError) -> Bool {
        guard let state, let row = Self.row(of: outcome) else { return true }
        ended.append(row)
        let taken = try await write(outcome.isWrittenAtOnce || Self.isUrgent(row) || !state.maySend(row))
        return !taken.contains { $0.identity == row.identity }
    }

    /// Records rows that can wait.
    mutating func note(_ rows: [ListEntry]) async throws(DatabaseError) {
        guard state != nil else { return }
        ended += rows
        _ = try await write(false)
    }

    private mutating func write(_ isUrgent: Bool) async throws(DatabaseError) -> [ListEntry] {
        let isAfterPause = lastWrite.map { ContinuousClock.now - $0 >= Self.writeInterval } ?? true
        return isUrgent || isAfterPause || ended.count >= Self.maximumRows ? try await writeEnded() : []
    }

    /// Whether a row must be written at once.
    static func isUrgent(_ row: ListEntry) -> Bool {
        row.key != nil || row.method != HTTPMethod.get.rawValue || row.bytes >= urgentSize
    }

    /// Waits until the rows of small files are written together; returns at once if the task was cancelled.
    static func pause() async { try? await ContinuousClock().sleep(for: writeInterval) }

    /// Writes all remaining rows at the end of a run.
    mutating func finish() async throws(DatabaseError) {
        try await writeEnded()
        try await state?.finish()
    }

    /// Writes the rows that wait, and the sends of requests that are under way.
    mutating func write(_ sends: [SendCounter.Sends]) async throws(DatabaseError) {
        try await writeEnded()
        try await add(sends)
    }

    /// Writes sends of requests that are under way.
    func add(_ sends: [SendCounter.Sends]) async throws(DatabaseError) {
        if !sends.isEmpty { _ = try await state?.add(sends) }
    }

    /// Writes the rows that wait; returns those that are not written, since other runs have taken the requests.
    @discardableResult
    private mutating func writeEnded() async throws(DatabaseError) -> [ListEntry] {
        guard let state, !ended.isEmpty else { return [] }
        defer {
            ended.removeAll(keepingCapacity: true)
            lastWrite = .now
        }
        return try await state.note(ended)
    }

    /// The row of a request that has ended.
    static func row(of outcome: FetchOutcome) -> ListEntry? {
        guard let job = outcome.job, var entry = job.entry, !outcome.isSkipped else { return nil }
        // A condition of the caller was not met, so nothing was fetched.
        if outcome.isSuccess, outcome.status == .notModified, case .fetch = job.action { return nil }
        // Without those that the state has already.
        entry.attempts = outcome.attempts.count - outcome.countedSends
        entry.status = outcome.status?.rawValue
        entry.ended = now
        entry.error = outcome.isSuccess ? nil : outcome.error?.code.rawValue
        // What certainly was not done has not begun.
        entry.begun = outcome.isSuccess || outcome.isUnknown || entry.key != nil ? outcome.begun ?? entry.begun : nil
        guard outcome.isSuccess else {
            let wasCancelled = outcome.error?.code == .cancelled
            let other: ListEntry.Outcome = outcome.isPartial ? .partial : wasCancelled ? .pending : .failed
            entry.outcome = outcome.isUnknown ? .unknown : other
            entry.bytes = outcome.bytes
            return entry
        }
        entry.outcome = .done
        // An unchanged content leaves the row unchanged.
        guard outcome.status != .notModified else { return entry }
        // The size of the file, which the next run compares.
        entry.bytes = outcome.bytes + outcome.headSize
        entry.validator = outcome.response?.headers["ETag"] ?? outcome.response?.headers["Last-Modified"]
        return entry
    }
}
