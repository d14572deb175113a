// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// Handles outcomes: writes the report, prints bodies in their order, shows progress, and counts.
///
/// A class, because each method call would copy a structure with all settings of the run.
final class OutputCoordinator {
    private let settings: GetSettings
    private let report: Output?
    private let picture: Output?
    private let dumpedHeads: Output?
    private let screen: StatusLine
    private let progress: Progress
    /// The last outcome.
    private var last: FetchOutcome?
    private var waiting: [Int: FetchOutcome] = [:]
    private var printed = 0
    /// The outputs that could not be written; each is reported once.
    private var lost: Set<ObjectIdentifier> = []
    private var status = ExitStatus.success
    /// Whether it was said that other runs have taken requests.
    private var hasSaidLoss = false
    /// Whether no further outcome can be written.
    private(set) var isClosed = false

    init(_ settings: GetSettings, _ screen: StatusLine, _ progress: Progress) throws(UsageError) {
        self.settings = settings
        self.screen = screen
        self.progress = progress
        let options = [
            ("--report", settings.options.report), ("--timeline-svg", settings.options.timelineSVG),
            ("--dump-header", settings.display.dumpHeader),
        ]
        var outputs: [Output?] = []
        do {
            for (option, path) in options {
                outputs.append(try Self.opening(option) { () throws(SystemError) in try path.map(Output.named) })
            }
            // Existing files are emptied only after all outputs could be opened.
            for ((option, _), output) in zip(options, outputs) {
                try Self.opening(option) { () throws(SystemError) in try output?.empty() }
            }
        } catch {
            for output in outputs { output?.withdraw() }
            throw error
        }
        (report, picture, dumpedHeads) = (outputs[0], outputs[1], outputs[2])
    }

    /// Whether a successful request is neither shown nor written; one that is alone has the line at the end.
    var isQuiet: Bool {
        !settings.isAlone && report == nil && picture == nil && dumpedHeads == nil && !settings.display.showsTimeline
            && settings.display.writeOut == nil && settings.options.files.tagFile == nil
            && !settings.destination.printsInOrder
    }

    /// Writes a message that belongs to no single request.
    func say(_ line: String) {
        if settings.display.showsFailures { screen.say("refrain get: \(line)\n") }
    }

    /// Reports a failure outside of the requests: the command continues, and its exit status is a failure.
    func fail(_ line: String) {
        if status != .failure { say(line) }
        status = .failure
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

    /// The number of the first job that may not begin yet, so that the bodies that wait to be printed are
    /// limited.
    var end: Int {
        guard !isClosed else { return 0 }
        return settings.destination.printsInOrder ? printed + 4 * settings.transports.concurrency + 16 : .max
    }

    /// Counts so many requests more, or less, than were known before the first ones were made.
    func expect(_ further: Int) { progress.expect(further) }

    /// Counts so many requests that were done in an earlier run.
    func skip(_ count: Int) { progress.skip(count) }

    /// Reports a line of a list that cannot be used, or a list that cannot be read to its end.
    func refuse(_ error: UsageError) {
        screen.say("refrain get: \(error)\n")
        status = .usage
    }

    /// Handles an outcome.
    func take(_ outcome: FetchOutcome) {
        if settings.isAlone { last = outcome }
        screen.say(lines(outcome))
        score(outcome)
        write(ReportLine.json(outcome, settings.template).line, to: report)
        write(Array(TimelineSVG(outcome).text.utf8), to: picture)
        write(outcome.heads.flatMap(\.bytes), to: dumpedHeads)
        if settings.destination.printsInOrder {
            waiting[outcome.index] = outcome
            printInOrder()
        } else {
            writeOut(outcome)
        }
        writeTag(of: outcome)
        if outcome.lostItsReader || (settings.options.failsEarly && !outcome.isSuccess) { isClosed = true }
    }

    /// Takes back an outcome whose request another run has taken; it is looked up again.
    func withdraw(_ outcome: FetchOutcome) {
        progress.withdraw(outcome)
        if !hasSaidLoss, let lease = settings.state.shared?.lease {
            hasSaidLoss = true
            let why = "which was stopped, or without its database, for longer than \(DurationText.plain(lease))"
            say("other runs have taken requests of this one, \(why)")
        }
        if let status = outcome.status {
            let request = "\(outcome.method) \(SanitizedURL.shown(outcome.url))"
            say("\(request): status \(status) is not kept, since another run has taken it")
        }
        guard settings.destination.printsInOrder else { return }
        var passed = outcome
        (passed.isSkipped, passed.content) = (true, nil)
        waiting[outcome.index] = passed
        printInOrder()
    }

    /// Writes the messages of an outcome to standard error.
    private func lines(_ outcome: FetchOutcome) -> String {
        guard !outcome.isSkipped else { return "" }
        var lines = ""
        if let remark = outcome.remark, settings.display.showsFailures {
            lines += "refrain get: \(SanitizedURL.shown(outcome.url)): \(remark)\n"
        }
        if settings.display.showsTimeline {
            let end = outcome.isSuccess ? outcome.status.map { "\($0)" } ?? "" : FailureText.line(outcome)
            let line = outcome.isSuccess ? "\(SanitizedURL.shown(outcome.url)): \(end)" : end
            let heading = "\(outcome.method) \(line), \(DurationText.short(outcome.elapsed))"
            lines += Timeline(heading, outcome.attempts, total: outcome.elapsed).text
        } else if !outcome.isSuccess, settings.display.showsFailures, !isOurs(outcome), !Task.isCancelled {
            lines += "refrain get: \(FailureText.line(outcome))\n"
            if outcome.isPartial {
                lines += "  \(SizeText.short(outcome.bytes)) are kept, and the same command goes on from there\n"
            }
        }
        if !outcome.isSuccess, settings.display.showsFailures,
            !settings.display.failsWithBody || !outcome.isDelivered
        {
            let isAnswer = (outcome.response?.status.rawValue ?? 0) >= 400 || outcome.isAwaited == false
            lines += isAnswer ? outcome.response.flatMap(ErrorContent.text) ?? "" : ""
        }
        return lines
    }

    /// Writes the text of `--write-out`.
    private func writeOut(_ outcome: FetchOutcome) {
        guard let format = settings.display.writeOut, !outcome.isSkipped else { return }
        for piece in format.pieces(outcome) where !piece.bytes.isEmpty {
            if piece.isError {
                screen.write(String(decoding: piece.bytes, as: UTF8.self))
            } else {
                write(piece.bytes, to: .standard)
            }
        }
    }

    /// Writes the tag of a body to the file of `--etag-save`.
    private func writeTag(of outcome: FetchOutcome) {
        guard let path = settings.options.files.tagFile, outcome.isSuccess, let tag = outcome.response?.headers["ETag"]
        else {
            return
        }
        do throws(SystemError) {
            try Output.replace(path, with: Array((tag.isEmpty ? "" : "\(tag)\n").utf8))
        } catch {
            fail("--etag-save: \(error)")
        }
    }

    /// Writes the outputs that are written once, at the end.
    private func writeCookies() {
        guard let path = settings.cookies.file, let jar = settings.cookies.jar else { return }
        do throws(SystemError) {
            try Output.replace(path, with: Array(jar.netscapeText.utf8))
        } catch {
            fail("--cookie-jar: \(error)")
        }
    }

    /// Says what the run came to, and returns the exit status; a transport failure takes precedence over a status.
    func finish() -> ExitStatus {
        screen.end()
        writeCookies()
        let sum = progress.sum.0
        if let remark = settings.options.pace.remark, sum.done > 0, settings.display.showsFailures {
            screen.say("refrain get: \(remark)\n")
        }
        let summary = RunSummary(settings, sum, elapsed: progress.sum.elapsed, last, report: intactReport)
        if Task.isCancelled {
            if settings.display.showsFailures { screen.say("refrain get: \(summary.interruption)\n") }
        } else if settings.display.tellsEnd, !isClosed || status != .success, let line = summary.line {
            // The body that was printed may not end with a line feed.
            let isGlued = settings.destination.hasStreams && Output.standard.isTerminal && !Output.standard.endsLine
            screen.say("\(isGlued ? "\n" : "")refrain get: \(line)\n")
        }
        return status
    }

    /// The file of the report, if it could be written.
    private var intactReport: String? {
        guard let report, report !== Output.standard, !lost.contains(ObjectIdentifier(report)) else { return nil }
        return settings.options.report
    }

    /// Whether the request failed because the reader of standard output closed it, which is not an error.
    private func isOurs(_ outcome: FetchOutcome) -> Bool {
        outcome.lostItsReader || (isClosed && outcome.error?.code == .cancelled)
    }

    private func printInOrder() {
        while let outcome = waiting.removeValue(forKey: printed) {
            printed += 1
            if let content = outcome.content {
                if settings.display.refusesBinary, TerminalSink.isBinary(content) {
                    screen.say("refrain get: \(SanitizedURL.shown(outcome.url)): \(TerminalSink.Refusal())\n")
                    status = .failure
                } else {
                    write(content, to: .standard)
                }
            }
            writeOut(outcome)
        }
    }

    private func score(_ outcome: FetchOutcome) {
        guard !isOurs(outcome) else { return }
        switch (status, outcome.exitStatus) {
        case (.usage, _): break
        case (_, .failure): status = .failure
        case (.success, let other): status = other
        // A permanent failure takes precedence over a temporary one.
        case (.retryAfterTooLong, .httpError): status = .httpError
        default: break
        }
    }

    /// Writes bytes that are made only if there is an output.
    private func write(_ bytes: @autoclosure () -> [UInt8], to output: Output?) {
        guard let output, !isClosed || output !== Output.standard, !lost.contains(ObjectIdentifier(output))
        else { return }
        do {
            try output.write(bytes())
        } catch {
            isClosed = true
            lost.insert(ObjectIdentifier(output))
            guard !Task.isCancelled else { return }
            // A closed reader of bodies is not an error; an incomplete report is.
            if !error.isBrokenPipe || output === report || output === picture { status = .failure }
            if !error.isBrokenPipe { screen.say("refrain get: \(error)\n") }
        }
    }
}
