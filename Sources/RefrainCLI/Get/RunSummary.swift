// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// What a run came to, in a line that stays on the screen.
struct RunSummary {
    private let settings: GetSettings
    private let sum: Progress.Sum
    private let elapsed: Duration
    /// The outcome of a request that is alone.
    private let outcome: FetchOutcome?
    /// The file that lists all requests; nil: none does.
    private let report: String?

    init(
        _ settings: GetSettings,
        _ sum: Progress.Sum,
        elapsed: Duration,
        _ outcome: FetchOutcome?,
        report: String?
    ) {
        self.report = report
        self.settings = settings
        self.sum = sum
        self.elapsed = elapsed
        self.outcome = outcome
    }

    /// The line at the end; nil where there is nothing to say.
    ///
    /// Nothing is said where standard output is the bodies and not a terminal, for scripts, unless a request of a list
    /// failed.
    var line: String? {
        let isFailedList = !settings.isAlone && sum.failed > 0
        if settings.destination.printsContents, !Output.standard.isTerminal, !isFailedList { return nil }
        return settings.isAlone ? single : list
    }

    private var time: String { "in \(DurationText.short(elapsed))" }
    private var retries: String {
        sum.retries > 0 ? ", \(sum.retries) \(sum.retries == 1 ? "retry" : "retries")" : ""
    }

    private var single: String? {
        // A failure has its own line.
        guard let outcome, outcome.isSuccess, !outcome.isSkipped else { return nil }
        let end = "\(time)\(retries)"
        if outcome.status == .notModified { return "304 Not Modified: nothing to fetch, \(end)" }
        if outcome.method == "HEAD", let status = outcome.status {
            return "\(status) \(ResponseHead.reason(of: status)) \(end)"
        }
        let size = SizeText.short(outcome.bytes)
        if let file = outcome.file { return "saved \(size) to \(file) \(end)" }
        return "received \(size) \(end)"
    }

    private var list: String? {
        guard sum.done + sum.failed > 0 else { return nil }
        let verb = settings.destination.hasFiles ? "saved" : "done"
        let total = sum.done + sum.failed + sum.skipped
        var text = "\(sum.done) of \(total) \(verb), \(SizeText.short(sum.bytes)) \(time)\(retries)"
        if sum.skipped > 0 { text += "; \(sum.skipped) done \(settings.state.inOtherRuns)" }
        guard sum.failed > 0 else { return text }
        return text + "; \(sum.failed) failed: see \(failures)"
    }

    /// Where the failed requests are listed.
    private var failures: String {
        if let report { return report }
        if let shared = settings.state.shared { return "refrain status \(shared.words)" }
        if let state = settings.state.file, settings.state.option == "--state" {
            return "refrain status \(ShellText.quoted(state))"
        }
        if case .folder(let folder) = settings.destination { return "refrain status \(ShellText.quoted(folder))" }
        return settings.display.showsFailures ? "the lines above" : "--report FILE"
    }

    /// What an interrupted run has left, and how it goes on.
    var interruption: String {
        var text = "interrupted after \(DurationText.short(elapsed))"
        if settings.isAlone {
            guard let outcome, outcome.isPartial else {
                let canContinue = settings.destination.hasFiles && !settings.options.continues
                return text + (canContinue ? "; nothing is kept, since -C was not given" : "")
            }
            text += "; \(SizeText.short(outcome.bytes)) of the file are kept"
        } else {
            let total = max(settings.jobCount, sum.done + sum.failed + sum.skipped)
            text += "; \(sum.done + sum.skipped) of \(total) are done"
            if sum.done > 0 { text += ", \(SizeText.short(sum.bytes))" }
            if sum.partial > 0 {
                let (files, size) = (sum.partial == 1 ? "file" : "files", SizeText.short(sum.partialBytes))
                text += ", and \(sum.partial) partial \(files) (\(size)) \(sum.partial == 1 ? "is" : "are") kept"
            }
            guard settings.options.continues || settings.state.file != nil else { return text }
        }
        guard let command = settings.commandLine, !settings.readsStandardInput else {
            return text + "; the same command goes on from there"
        }
        return text + "; this goes on from there:\n  \(command)"
    }
}
