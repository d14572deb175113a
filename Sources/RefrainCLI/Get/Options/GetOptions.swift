// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The options of `refrain get` as checked values.
///
/// Between the words of the command line (``Arguments``) and what a run works with (``GetSettings``): what one option
/// or two together can get wrong is refused here. Nothing is read or opened for it.
struct GetOptions: Sendable {
    /// How many requests may run at a time, before the limit of open files.
    let concurrency: Int
    /// How many segments of a file are fetched at a time; nil: it is fetched in one piece.
    let segments: Int?
    let policy: CommandPolicy
    let hasBudget: Bool
    /// The limits that requests keep.
    let pace: PaceSettings
    /// How many redirects are followed.
    let maximumRedirects: Int
    /// The allowed schemes; nil: all.
    let schemes: AllowedSchemes?
    /// The Unix socket of the connections; nil: they use the network.
    let unixSocket: String?
    /// Whether the first request that fails is the last one.
    let failsEarly: Bool
    /// Whether a partial file is kept and continued.
    let continues: Bool
    /// How files that are named by the option of curl are written.
    let files: FileSettings
    let report: String?
    let timelineSVG: String?

    init(_ arguments: Arguments) throws(UsageError) {
        try OtherCommands.checkLetters(arguments)
        pace = try PaceSettings(arguments)
        policy = try PolicyText.commandPolicy(arguments, profile: pace.profile)
        hasBudget = !arguments.has(.noBudget)
        concurrency = try Self.concurrency(arguments, pace)
        segments = try arguments.last(.segments).map { text throws(UsageError) in
            try WholeNumber.parse(text, option: "--segments", in: 1...64)
        }
        maximumRedirects =
            try arguments.last(.maxRedirs).map { text throws(UsageError) in
                try WholeNumber.parse(text, option: "--max-redirs", in: 0...1000)
            } ?? Redirect.defaultMaximum
        schemes = try AllowedSchemes(arguments)
        unixSocket = arguments.last(.unixSocket)
        failsEarly = arguments.has(.failEarly)
        guard !arguments.has(.removeOnError) || !arguments.has(.continue) else {
            throw UsageError("--remove-on-error and --continue exclude each other")
        }
        let keepsParts = arguments.has(.from) || arguments.has(.outputDir) || segments != nil
        continues = arguments.has(.continue) || (keepsParts && !arguments.has(.removeOnError))
        files = try FileSettings(arguments)
        report = try arguments.file(.report)
        timelineSVG = try arguments.file(.timelineSVG)
        guard timelineSVG != "-" else { throw .badValue("-", of: "--timeline-svg", "is not a file") }
    }

    /// How many requests may run at a time: one where cookies of a response go with the next request, and as many as
    /// the pace allows where there is one.
    private static func concurrency(_ arguments: Arguments, _ pace: PaceSettings) throws(UsageError) -> Int {
        if let text = arguments.last(.cookieJar), ASCIINumber.whole(text) != nil {
            throw UsageError(
                "-c \(text): the number of requests at a time is -j \(text) now; -c takes the file of a cookie jar"
            )
        }
        if let text = arguments.last(.proxy), ASCIINumber.whole(text) != nil {
            throw UsageError("-x \(text): the number of parts of a file at a time is --segments \(text); -x is a proxy")
        }
        if let text = arguments.last(.concurrency) {
            return try WholeNumber.parse(text, option: "--concurrency", in: 1...10_000)
        }
        let isParallel = arguments.has(.parallel) || arguments.has(.parallelImmediate)
        if CookieSettings.areUsed(arguments), !isParallel { return 1 }
        return pace.isGiven ? pace.places : 8
    }

    /// Refuses options that are for one URL where there are several, or for files where there are none.
    func check(_ arguments: Arguments, _ given: GivenRequests, _ destination: Destination) throws(UsageError) {
        let count = given.requests.count
        if timelineSVG != nil, count != 1 {
            throw UsageError("--timeline-svg draws one request, but there are \(count) URLs; use --report FILE")
        }
        guard arguments.all(.uploadFile).count <= 1, given.count == 1 || !arguments.has(.uploadFile) else {
            throw UsageError(
                "--upload-file sends one file to one URL; --from takes a line in JSON for each, with bodyFile"
            )
        }
        for name in [OptionName.etagSave, .etagCompare] where arguments.has(name) && given.count > 1 {
            throw UsageError("--\(name.rawValue) is for one response, but there are \(given.count) URLs; use --refresh")
        }
        guard segments != nil else { return }
        guard destination.hasFiles else {
            throw UsageError("--segments needs a file: -o FILE, -O or --output-dir DIR")
        }
        for other in [OptionName.remoteHeaderName, .include, .head, .compressed, .until, .untilJSON]
        where arguments.has(other) {
            throw UsageError("--segments and --\(other.rawValue) exclude each other")
        }
    }
}
