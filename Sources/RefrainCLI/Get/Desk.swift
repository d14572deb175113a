internal import Refrain

/// Takes in what comes back: writes the report, prints contents in their order, shows progress, and keeps the score.
struct Desk {
    private let settings: GetSettings
    private let report: Output?
    private let picture: Output?
    private let screen = Output.error
    private var progress: Progress?
    private var waiting: [Int: [UInt8]?] = [:]
    private var printed = 0
    /// The outputs that could not be written: of each it is said once.
    private var lost: Set<ObjectIdentifier> = []
    private var status = ExitStatus.success
    /// Whether nothing more can be taken in.
    private(set) var isClosed = false

    init(_ settings: GetSettings) throws(UsageError) {
        self.settings = settings
        let report = try Self.opening("--report") { () throws(SystemError) in try settings.report.map(Output.named) }
        do {
            // What was there before is let go when nothing can go wrong any more.
            picture = try Self.opening("--timeline-svg") { () throws(SystemError) in
                let picture = try settings.timelineSVG.map(Output.named)
                try picture?.empty()
                return picture
            }
            try Self.opening("--report") { () throws(SystemError) in try report?.empty() }
        } catch {
            report?.withdraw()
            throw error
        }
        self.report = report
        if settings.jobs.count > 1, !settings.isQuiet, let columns = screen.columns {
            progress = Progress(total: settings.jobs.count, columns: columns)
        }
    }

    private static func opening<Result>(
        _ option: String,
        _ body: () throws(SystemError) -> Result
    ) throws(UsageError) -> Result {
        do {
            return try body()
        } catch {
            throw UsageError("\(option): \(error)")
        }
    }

    /// Whether the job of this number may begin: contents that wait for their turn are not piled up without end.
    func accepts(_ index: Int) -> Bool {
        guard !isClosed else { return false }
        return settings.destination != .standardOutputInOrder || index < printed + 4 * settings.concurrency + 16
    }

    /// Takes in an outcome.
    mutating func take(_ outcome: FetchOutcome) {
        progress?.count(outcome)
        var lines = ""
        if settings.isVerbose {
            let end = outcome.isSuccess ? outcome.status.map { "\($0)" } ?? "" : FailureText.line(outcome)
            let title = outcome.isSuccess ? "\(outcome.method) \(outcome.url): \(end)" : "\(outcome.method) \(end)"
            lines +=
                Timeline(
                    "\(title), \(DurationText.short(outcome.elapsed))",
                    outcome.attempts,
                    total: outcome.elapsed
                ).text
        } else if !outcome.isSuccess, !settings.isQuiet, !isOurs(outcome), !Task.isCancelled {
            lines += "refrain get: \(FailureText.line(outcome))\n"
        }
        show(lines)
        score(outcome)
        write(ReportLine.json(outcome).line, to: report)
        write(Array(TimelineSVG(outcome).text.utf8), to: picture)
        if settings.destination == .standardOutputInOrder {
            waiting[outcome.index] = .some(outcome.content)
            printInOrder()
        }
        if outcome.lostItsReader { isClosed = true }
    }

    /// Puts the screen in order, and says how it went: a transport failure weighs more than a status.
    mutating func finish() -> ExitStatus {
        if progress != nil { screen.show("\n") }
        return status
    }

    /// Whether the request failed because the reader of standard output had enough: no failure of its own.
    private func isOurs(_ outcome: FetchOutcome) -> Bool {
        outcome.lostItsReader || (isClosed && outcome.error?.code == .cancelled)
    }

    private mutating func printInOrder() {
        while let content = waiting.removeValue(forKey: printed) {
            printed += 1
            if let content { write(content, to: .standard) }
        }
    }

    private mutating func score(_ outcome: FetchOutcome) {
        guard !isOurs(outcome) else { return }
        switch (status, outcome.exitStatus) {
        case (_, .failure): status = .failure
        case (.success, let other): status = other
        default: break
        }
    }

    private mutating func write(_ bytes: [UInt8], to output: Output?) {
        guard let output, !isClosed || output !== Output.standard, !lost.contains(ObjectIdentifier(output))
        else { return }
        do {
            try output.write(bytes)
        } catch {
            isClosed = true
            lost.insert(ObjectIdentifier(output))
            guard !Task.isCancelled else { return }
            // Contents that nobody wants any more are well ended; a report that breaks off is not a whole one.
            if !error.isBrokenPipe || output === report || output === picture { status = .failure }
            if !error.isBrokenPipe { screen.show("refrain get: \(error)\n") }
        }
    }

    private mutating func show(_ lines: String) {
        guard progress != nil else {
            if !lines.isEmpty { screen.show(lines) }
            return
        }
        if !lines.isEmpty { screen.draw(Progress.clear + Shown.plain(lines)) }
        if let line = progress?.next() { screen.draw(line) }
    }
}
