// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// What is shown for requests and answers.
struct DisplaySettings: Sendable {
    /// Whether failures are shown.
    let showsFailures: Bool
    /// Whether binary data is refused, because standard output is a terminal that no option names.
    let refusesBinary: Bool
    /// How progress is shown.
    let progress: ProgressKind
    /// Whether each retry is told.
    let tellsRetries: Bool
    /// Whether the end of the run is told.
    let tellsEnd: Bool
    /// Whether the requests are shown as they are sent, with the heads of the responses.
    let isVerbose: Bool
    /// Whether the attempts of each request are drawn.
    let showsTimeline: Bool
    /// Whether the head of an answer is written before its content.
    let includesHead: Bool
    /// Where the heads of answers are written; nil: nowhere.
    let dumpHeader: String?
    /// Whether the content of an answer of status 400 or more is delivered as any other.
    let failsWithBody: Bool
    /// The text that is written after each request; nil: none.
    let writeOut: WriteOut?
    /// The bytes that are held back of a body that is written as it arrives.
    let holdBack: Int
    /// Warnings that are written before the first request.
    let remarks: [String]

    init(_ arguments: Arguments, _ destination: Destination, numberOfURLs: Int) throws(UsageError) {
        let isSilent = arguments.has(.silent) && !arguments.has(.showError)
        showsFailures = !arguments.has(.quiet) && !isSilent
        let namesOutput = arguments.all(.output).contains { Output.given($0) === Output.standard }
        refusesBinary = Output.standard.isTerminal && !namesOutput
        progress = try ProgressKind(arguments)
        let isQuiet = arguments.has(.quiet) || arguments.has(.silent)
        tellsRetries = !isQuiet && progress != .json
        tellsEnd = !isQuiet && progress == .line
        isVerbose = arguments.has(.verbose)
        showsTimeline = arguments.has(.timeline)
        // Heads with the same destination as the content are written before it.
        let printsHeads = arguments.last(.dumpHeader) == "-" && destination.isStandardOutput
        includesHead = arguments.has(.include) || arguments.has(.head) || printsHeads
        dumpHeader = printsHeads ? nil : arguments.last(.dumpHeader)
        if let dumpHeader, dumpHeader.isEmpty || dumpHeader.utf8.contains(0) {
            throw .badValue(dumpHeader, of: "--dump-header", "is not a file")
        }
        failsWithBody = arguments.has(.failWithBody)
        holdBack = arguments.has(.noBuffer) ? 0 : StreamSink.holdBack
        remarks = [
            CommandLineURL.remark(arguments), ConditionFields.remark(arguments), InPlaceSink.remark(destination),
            Destination.remark(arguments, numberOfURLs: numberOfURLs),
            OtherCommands.remarkOnData(arguments),
        ].compactMap(\.self)
        writeOut = try arguments.last(.writeOut).map { text throws(UsageError) in try WriteOut(text) }
    }

    /// Whether the heads of answers are kept.
    var recordsHeads: Bool { includesHead || dumpHeader != nil || writeOut != nil }
}
