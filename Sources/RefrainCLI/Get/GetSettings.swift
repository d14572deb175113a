internal import Refrain

/// The settings of `refrain get`, all validated.
struct GetSettings: Sendable {
    /// One request, and the file that its content goes to, if it goes to one.
    ///
    /// A class, because there are many, and each is passed between tasks.
    final class Job: Sendable {
        /// The action for the request.
        enum Action: Sendable {
            /// It is sent.
            case fetch
            /// It is sent again, although the server may have done it.
            case resend
            /// It was done in an earlier run, and is not sent again.
            case skip
            /// It was done in an earlier run, and is revalidated: `--refresh`.
            case revalidate
            /// Its file belongs to another request, and is not changed.
            case refuse
            /// An earlier run has sent it, and its outcome is unknown.
            case leave
        }

        let request: ListedRequest
        /// The identity of the request in the state.
        let identity: String
        /// The identity that earlier versions gave it; nil: the same.
        let oldIdentity: String?
        /// The path of the file.
        let file: String?
        /// The file, relative to the output folder.
        let name: String?
        /// The digest that its content must have; nil: none was given.
        let digest: ContentDigest?
        /// Its row in the state.
        let entry: TransferState.Entry?
        let action: Action

        init(
            request: ListedRequest,
            identity: String,
            oldIdentity: String? = nil,
            file: String?,
            name: String?,
            digest: ContentDigest?
        ) {
            self.request = request
            self.identity = identity
            self.oldIdentity = oldIdentity
            self.file = file
            self.name = name
            self.digest = digest
            entry = nil
            action = .fetch
        }

        /// A job of which the state says what is to be done.
        init(_ job: Job, entry: TransferState.Entry, action: Action) {
            request = job.request
            identity = job.identity
            oldIdentity = job.oldIdentity
            file = job.file
            name = job.name
            digest = job.digest
            self.entry = entry
            self.action = action
        }
    }

    /// The requests that are known before anything is sent, as jobs.
    private var jobs: [Job]
    /// The command line, for messages; nil where it has secrets.
    var commandLine: String?
    /// The requests whose jobs are made while the first ones are fetched; some may be duplicates.
    private var requests: [ListedRequest]
    /// The number of both.
    let jobCount: Int
    /// Makes the jobs of further requests.
    private(set) var jobList: JobList
    /// Up to this many requests are all validated before the first one is sent, which takes about a millisecond.
    private static let fewRequests = 250
    /// Whether further requests come from standard input, which is read while the first of them are made.
    let readsStandardInput: Bool
    let destination: Destination
    let template: RequestTemplate
    let policy: CommandPolicy
    /// With several loaders, one can write a file while others receive.
    let transports: [CurlLoader]
    let concurrency: Int
    /// The Unix socket of the connections; nil: they use the network.
    let unixSocket: String?
    /// Whether the concurrency was reduced to the limit of open files.
    let isHeldDown: Bool
    let hasBudget: Bool
    let display: DisplaySettings
    let report: String?
    let timelineSVG: String?
    /// Whether a partial file is kept and continued.
    let continues: Bool
    /// How many segments of a file are fetched at a time; nil: it is fetched in one piece.
    let segments: Int?
    /// The digests that contents are compared with.
    let digests: DigestSettings
    /// The file of the state; nil: none is kept.
    let state: String?
    /// The option that requires the state, for messages.
    let stateOption: String
    /// The lists of the run, as the state identifies them; empty: only the command line.
    let listName: String
    /// The lists of the run if all requests are in files; nil: the next run cannot know what it lacks.
    let rereadList: String?
    /// Whether completed requests are revalidated.
    let refreshes: Bool
    /// Whether requests whose outcome is unknown are sent again.
    let resendsUnknown: Bool
    /// The minimum time between the beginnings of two requests; nil: none.
    let interval: Duration?
    /// The cookies that requests share; nil: none are kept.
    let cookies: CookieJar?
    /// Where cookies are written at the end; nil: nowhere.
    let cookieJar: String?
    /// How files that are named by the option of curl are written.
    let files: FileSettings
    /// The allowed schemes; nil: all.
    let schemes: AllowedSchemes?
    /// How many redirects are followed.
    let maximumRedirects: Int
    /// Whether the first request that fails is the last one.
    let failsEarly: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        try OtherCommands.checkLetters(arguments)
        Input.limit(to: try RequestTemplate.timeOfCall(arguments))
        template = try RequestTemplate(arguments)
        policy = try PolicyText.commandPolicy(arguments)
        hasBudget = !arguments.has(.noBudget)
        let isParallel = arguments.has(.parallel) || arguments.has(.parallelImmediate)
        var limit = Self.usesCookies(arguments) && !isParallel ? 1 : 8
        if let text = arguments.last(.cookieJar), ASCIINumber.whole(text) != nil {
            throw UsageError(
                "-c \(text): the number of requests at a time is -j \(text) now; -c takes the file of a cookie jar"
            )
        }
        if let text = arguments.last(.proxy), ASCIINumber.whole(text) != nil {
            throw UsageError("-x \(text): the number of parts of a file at a time is --segments \(text); -x is a proxy")
        }
        if let text = arguments.last(.concurrency) {
            limit = try WholeNumber.parse(text, option: "--concurrency", in: 1...10_000)
        }
        let openFiles = ProcessSetup.raiseOpenFiles()
        segments = try arguments.last(.segments).map { text throws(UsageError) in
            try WholeNumber.parse(text, option: "--segments", in: 1...64)
        }
        let perFile = segments ?? 1
        concurrency = max(1, TransportSettings.affordable(limit * perFile, openFiles: openFiles) / perFile)
        isHeldDown = concurrency < limit
        transports = try TransportSettings.transports(
            arguments,
            concurrency: concurrency * perFile,
            openFiles: openFiles,
            omittedFields: template.omittedFields
        )
        unixSocket = arguments.last(.unixSocket)
        // An option for one URL requires that there is no other.
        readsStandardInput = Self.streamsList(arguments)
        let requests = try Self.requests(arguments, exceptStandardInput: readsStandardInput)
        if arguments.values[.idempotencyKey]?.last?.isEmpty == false, requests.count > 1 {
            throw UsageError(
                "--idempotency-key=KEY names one request, but there are \(requests.count) URLs; leave KEY out"
            )
        }
        let count = readsStandardInput ? max(2, requests.count) : requests.count
        destination = try Destination(arguments, numberOfURLs: count)
        (state, stateOption) = try Self.state(arguments, destination, requests)
        (listName, rereadList) = URLList.names(arguments)
        if segments != nil { try Self.checkSegments(arguments, destination) }
        digests = try DigestSettings(arguments, destination, numberOfURLs: count)
        jobList = JobList(
            destination,
            template,
            isFlat: arguments.has(.flat),
            hasState: state != nil,
            digests: digests
        )
        jobList.reserved = try OutputCollisions.reserved(arguments, destination)
        if requests.count > Self.fewRequests, jobList.canWait(requests) {
            (jobs, self.requests) = ([], requests)
        } else {
            (jobs, self.requests) = (try jobList.add(requests), [])
        }
        jobCount = jobs.count + self.requests.count
        report = try Self.file(arguments, .report)
        timelineSVG = try Self.file(arguments, .timelineSVG)
        if timelineSVG != nil {
            guard timelineSVG != "-" else { throw .badValue("-", of: "--timeline-svg", "is not a file") }
            guard requests.count == 1 else {
                throw UsageError(
                    "--timeline-svg draws one request, but there are \(requests.count) URLs; use --report FILE"
                )
            }
        }
        display = try DisplaySettings(arguments, destination, numberOfURLs: count)
        refreshes = arguments.has(.refresh)
        resendsUnknown = arguments.has(.resendUnknown)
        interval = try arguments.last(.rate).map { text throws(UsageError) in
            try SpeedText.interval(text, option: "--rate")
        }
        cookieJar = try Self.file(arguments, .cookieJar)
        // It is written at the end of the run.
        if let cookieJar, cookieJar != "-" {
            let folder = Directory.above(cookieJar)
            guard Directory.kind(of: folder.isEmpty ? "." : folder) == .folder, Directory.kind(of: cookieJar) != .folder
            else { throw .badValue(cookieJar, of: "--cookie-jar", "cannot be written: it is a folder, or in none") }
        }
        cookies = try Self.cookies(arguments)
        files = try FileSettings(arguments)
        guard arguments.all(.uploadFile).count <= 1, count == 1 || !arguments.has(.uploadFile) else {
            throw UsageError(
                "--upload-file sends one file to one URL; --from takes a line in JSON for each, with bodyFile"
            )
        }
        if count > 1 {
            for name in [OptionName.etagSave, .etagCompare] where arguments.has(name) {
                throw UsageError("--\(name.rawValue) is of one content, but there are \(count) URLs; use --refresh")
            }
        }
        schemes = try AllowedSchemes(arguments)
        maximumRedirects =
            try arguments.last(.maxRedirs).map { text throws(UsageError) in
                try WholeNumber.parse(text, option: "--max-redirs", in: 0...1000)
            } ?? Redirect.defaultMaximum
        failsEarly = arguments.has(.failEarly)
        if refreshes, state == nil { throw UsageError("--refresh needs a state: --output-dir DIR or --state FILE") }
        guard !arguments.has(.removeOnError) || !arguments.has(.continue) else {
            throw UsageError("--remove-on-error and --continue exclude each other")
        }
        let keepsParts = arguments.has(.from) || arguments.has(.outputDir) || segments != nil
        continues = arguments.has(.continue) || (keepsParts && !arguments.has(.removeOnError))
    }

    /// Whether there is only one request.
    var isAlone: Bool { jobCount == 1 && !readsStandardInput }

    /// Removes and returns the requests that are known before anything is sent, so that they are stored once.
    mutating func takeJobs() -> ([Job], [ListedRequest]) {
        defer { (jobs, requests) = ([], []) }
        return (jobs, requests)
    }

    /// Refuses segments for outputs that are written in one piece.
    private static func checkSegments(_ arguments: Arguments, _ destination: Destination) throws(UsageError) {
        guard destination.hasFiles else {
            throw UsageError("--segments needs a file: -o FILE, -O or --output-dir DIR")
        }
        for other in [OptionName.remoteHeaderName, .include, .head, .compressed, .until, .untilJSON]
        where arguments.has(other) {
            throw UsageError("--segments and --\(other.rawValue) exclude each other")
        }
    }

    /// Whether cookies of a response are sent with later requests.
    private static func usesCookies(_ arguments: Arguments) -> Bool {
        arguments.has(.cookieJar) || arguments.all(.cookie).contains { !$0.contains("=") }
    }

    /// The cookies of the files of `--cookie`, of which the jar may not exist yet.
    private static func cookies(_ arguments: Arguments) throws(UsageError) -> CookieJar? {
        guard usesCookies(arguments) else { return nil }
        let files = arguments.all(.cookie).filter { !$0.contains("=") }
        let jar = CookieJar()
        for file in files where file.isEmpty == false && (file == "-" || Directory.kind(of: file) != .nothing) {
            let text = String(decoding: try BodyText.contents(file, "--cookie"), as: UTF8.self)
            jar.insert(netscape: text)
            // Otherwise requests would be sent without their cookies.
            let isForeign = text.split(whereSeparator: \.isNewline).contains { line in
                line.lowercased().hasPrefix("set-cookie:")
            }
            if isForeign {
                throw .badValue(file, of: "--cookie", "has header fields; the form is that of --cookie-jar, Netscape's")
            }
        }
        return jar
    }

    /// The file that an option names; nil where it was not given.
    private static func file(_ arguments: Arguments, _ name: OptionName) throws(UsageError) -> String? {
        guard let path = arguments.last(name) else { return nil }
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .badValue(path, of: "--\(name.rawValue)", "is not a file")
        }
        return path
    }

    /// The path of the state: that of the option, a file in the output folder, or one beside a list of requests that
    /// must not be sent twice.
    private static func state(
        _ arguments: Arguments,
        _ destination: Destination,
        _ requests: [ListedRequest]
    ) throws(UsageError) -> (String?, String) {
        if let path = try file(arguments, .state) { return (path, "--state") }
        if case .folder(let folder) = destination {
            return (Directory.path(folder, TransferState.fileName), "--output-dir")
        }
        guard let list = arguments.last(.from), list != "-", requests.contains(where: \.isLine) else {
            return (nil, "")
        }
        return (list + TransferState.fileName, "--from")
    }

    /// How many options beside lists read standard input.
    private static func readersOfStandardInput(_ arguments: Arguments) -> Int {
        arguments.given.count { name, value in
            switch name {
            case .data, .dataBinary, .json, .header, .bearer, .writeOut: value == "@-"
            case .uploadFile: value == "-" || value == "."
            case .form: value.contains("=@-") || value.contains("=<-")
            case .dataUrlencode, .urlQuery: value.hasSuffix("@-")
            default: false
            }
        }
    }

    /// Whether a list is read line by line: from standard input, unless that is a file or an option is for one URL.
    private static func streamsList(_ arguments: Arguments) -> Bool {
        guard arguments.all(.from).contains("-"), let input = try? Input(path: "-"), input.canBeRead,
            input.fileSize == nil
        else { return false }
        let namesKey = arguments.values[.idempotencyKey]?.last?.isEmpty == false
        return !namesKey && !arguments.has(.output) && !arguments.has(.timelineSVG)
    }

    private static func requests(
        _ arguments: Arguments,
        exceptStandardInput: Bool
    ) throws(UsageError) -> [ListedRequest] {
        var requests: [ListedRequest] = []
        for word in arguments.positionals {
            let url = CommandLineURL.completed(word, arguments)
            try CommandLineURL.check(url, arguments)
            requests.append(ListedRequest(url: url, position: .commandLine))
        }
        let lists = arguments.all(.from)
        let readers = lists.filter { $0 == "-" }.count + Self.readersOfStandardInput(arguments)
        guard readers <= 1 else { throw UsageError("only one option can read standard input") }
        for list in lists where !exceptStandardInput || list != "-" { requests += try URLList.read(list) }
        guard !requests.isEmpty || exceptStandardInput else {
            throw UsageError(
                lists.isEmpty
                    ? "which URL? Give one, or a list with --from"
                    : "--from: \(lists.joined(separator: ", ")) names no URL"
            )
        }
        return requests
    }
}

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
    /// The bytes that are held back of a content that is written as it arrives.
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
