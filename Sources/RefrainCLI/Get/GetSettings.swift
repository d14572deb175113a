internal import Refrain

/// What `refrain get` was asked to do, all of it checked.
struct GetSettings: Sendable {
    /// One URL, and the file that its content goes to, if it goes to one.
    struct Job: Sendable {
        let url: String
        let file: String?
    }

    let jobs: [Job]
    let destination: Destination
    let template: RequestTemplate
    let policy: RetryPolicy
    let transport: CurlLoader
    let concurrency: Int
    /// Whether more was asked for at a time than there may be files open for.
    let isHeldDown: Bool
    let hasBudget: Bool
    let report: String?
    let timelineSVG: String?
    let isQuiet: Bool
    let isVerbose: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        template = try RequestTemplate(arguments)
        policy = try PolicyText.policy(arguments)
        hasBudget = !arguments.has(.noBudget)
        isQuiet = arguments.has(.quiet)
        isVerbose = arguments.has(.verbose)
        var limit = 8
        if let text = arguments.last(.concurrency) {
            limit = try WholeNumber.parse(text, option: "--concurrency", in: 1...10_000)
        }
        let openFiles = ProcessSetup.raiseOpenFiles()
        concurrency = Self.affordable(limit, openFiles: openFiles)
        isHeldDown = concurrency < limit
        transport = try Self.transport(arguments, concurrency: concurrency, openFiles: openFiles)
        let urls = try Self.urls(arguments)
        if arguments.values[.idempotencyKey]?.last?.isEmpty == false, urls.count > 1 {
            throw UsageError("--idempotency-key=KEY names one request, but there are \(urls.count) URLs; leave KEY out")
        }
        destination = try Destination(arguments, numberOfURLs: urls.count)
        jobs = Self.jobs(urls, destination)
        report = arguments.last(.report)
        if let report, report.isEmpty || report.utf8.contains(0) {
            throw .badValue(report, of: "--report", "is no file")
        }
        timelineSVG = arguments.last(.timelineSVG)
        if let timelineSVG {
            guard !timelineSVG.isEmpty, timelineSVG != "-", !timelineSVG.utf8.contains(0) else {
                throw .badValue(timelineSVG, of: "--timeline-svg", "is no file")
            }
            guard urls.count == 1 else {
                throw UsageError(
                    "--timeline-svg draws one request, but there are \(urls.count) URLs; use --report FILE"
                )
            }
        }
        try refuseCollisions(Self.inputs(arguments))
    }

    /// The files that are read, each with the option that names it.
    private static func inputs(_ arguments: Arguments) -> [String: String] {
        var inputs: [String: String] = [:]
        func add(_ path: String, _ option: String) {
            let path = path == "-" ? "/dev/stdin" : path
            if Folder.kind(of: path) == .file { inputs[Folder.identity(of: path)] = option }
        }
        for path in arguments.all(.from) { add(path, "--from") }
        for part in arguments.all(.data) where part.hasPrefix("@") { add(String(part.dropFirst()), "--data") }
        if let path = arguments.last(.cacert) { add(path, "--cacert") }
        return inputs
    }

    /// Refuses two outputs in one file: the one that comes last would be all that is left.
    ///
    /// The file of an input is refused as well: a report empties it before it is read, and a content that is named by
    /// its URL takes its place by accident. `--output FILE` may replace one: it does so when the content is whole.
    private func refuseCollisions(_ inputs: [String: String]) throws(UsageError) {
        var options: [String: String] = [:]
        func add(_ path: String?, _ option: String, _ inputs: [String: String] = [:]) throws(UsageError) {
            guard let path else { return }
            let place: String
            if let number = Output.descriptor(path) {
                place = "/dev/fd/\(number)"
            } else {
                guard [.file, .nothing].contains(Folder.kind(of: path)) else { return }
                place = Folder.identity(of: path)
                if let reader = inputs[place] { throw Self.destroyed(path, by: option, reader) }
            }
            guard let other = options.updateValue(option, forKey: place) else { return }
            throw UsageError("\(other) and \(option) would both write \(Shown.text(path))")
        }
        switch destination {
        case .file(let path), .device(let path): try add(path, "--output")
        case .standardOutput, .standardOutputInOrder: try add("-", "the content")
        case .folder, .nowhere: break
        }
        try add(report, "--report", inputs)
        try add(timelineSVG, "--timeline-svg", inputs)
        guard case .folder(let folder) = destination, !(options.isEmpty && inputs.isEmpty) else { return }
        let place = Folder.identity(of: folder)
        for job in jobs {
            guard let name = job.file?.split(separator: "/").last else { continue }
            let path = Folder.path(place, name)
            if let reader = inputs[path] { throw Self.destroyed(String(name), by: "--output-dir", reader) }
            guard let option = options[path] else { continue }
            throw UsageError("--output-dir and \(option) would both write \(Shown.text(String(name)))")
        }
    }

    private static func destroyed(_ path: String, by writer: String, _ reader: String) -> UsageError {
        UsageError("\(writer) would write over \(Shown.text(path)), which \(reader) reads")
    }

    private static func urls(_ arguments: Arguments) throws(UsageError) -> [String] {
        var urls = arguments.positionals
        for url in urls { try URLList.check(url, "URL") }
        let lists = arguments.all(.from)
        let readers = lists.filter { $0 == "-" }.count + arguments.all(.data).filter { $0 == "@-" }.count
        guard readers <= 1 else { throw UsageError("only one option can read standard input") }
        for list in lists { urls += try URLList.read(list) }
        guard !urls.isEmpty else {
            throw UsageError(
                lists.isEmpty
                    ? "which URL? Give one, or a list with --from"
                    : "--from: \(lists.joined(separator: ", ")) names no URL"
            )
        }
        return urls
    }

    private static func jobs(_ urls: [String], _ destination: Destination) -> [Job] {
        switch destination {
        case .folder(let folder):
            var naming = OutputNaming()
            let prefix = folder.hasSuffix("/") ? folder : folder + "/"
            return urls.map { Job(url: $0, file: prefix + naming.name(for: $0)) }
        case .file(let path):
            return urls.map { Job(url: $0, file: path) }
        case .standardOutput, .standardOutputInOrder, .device, .nowhere:
            return urls.map { Job(url: $0, file: nil) }
        }
    }

    /// The path of a file with certificates, where the one that is given can be used.
    private static func authorities(_ file: String) throws(UsageError) -> String {
        do throws(SystemError) {
            let input = try Input(path: file)
            let pem = try input.rest()
            if CertificateText.isSound(String(decoding: pem, as: UTF8.self)) {
                // A pipe is empty now, and each new connection reads the file.
                return input.fileSize == nil ? try NamelessFile.path(holding: pem) : file
            }
        } catch {
            throw UsageError("--cacert: \(error)")
        }
        throw UsageError("--cacert: \(file) holds no certificate in PEM form, or not a whole one")
    }

    /// How many can run at a time: each takes a connection and a file, and two more while its host is looked up.
    private static func affordable(_ wish: Int, openFiles: Int) -> Int {
        max(1, min(wish, (openFiles - filesOfOurs) / 4))
    }

    /// What is open besides: the standard descriptors, a report, the files of the transport's thread.
    private static let filesOfOurs = 16

    private static func transport(
        _ arguments: Arguments,
        concurrency: Int,
        openFiles: Int
    ) throws(UsageError) -> CurlLoader {
        var configuration = CurlLoader.Configuration()
        configuration.maximumConnectionsPerHost = concurrency
        let left = openFiles - filesOfOurs - 3 * concurrency
        configuration.maximumIdleConnections = max(1, min(left, max(64, concurrency)))
        if let file = arguments.last(.cacert) {
            configuration.trust = .certificateFile(try authorities(file))
        }
        if arguments.has(.insecure) { configuration.trust = .insecure }
        if let proxy = arguments.last(.proxy) { configuration.proxy = proxy }
        do throws(InvalidArgument) {
            return try CurlLoader(configuration: configuration)
        } catch {
            guard error.argument != "proxy" else {
                throw .badValue(ShownURL.refused(error.value), of: "--proxy", "is not \(error.expected)")
            }
            throw UsageError("--\(error.argument == "trust" ? "cacert" : error.argument): \(error)")
        }
    }
}
