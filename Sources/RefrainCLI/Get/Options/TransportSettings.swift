// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The transports of a run, among which its requests are distributed.
struct Transports: Sendable {
    /// With several loaders, one can write a file while others receive.
    let loaders: [CurlLoader]
    /// How many requests run at a time.
    let concurrency: Int
    /// Whether that was reduced to the limit of open files.
    let isHeldDown: Bool

    init(_ arguments: Arguments, _ options: GetOptions, omittedFields: [String]) throws(UsageError) {
        let openFiles = ProcessSetup.raiseOpenFiles()
        let perFile = options.segments ?? 1
        let affordable = TransportSettings.affordable(options.concurrency * perFile, openFiles: openFiles)
        concurrency = max(1, affordable / perFile)
        isHeldDown = concurrency < options.concurrency
        loaders = try TransportSettings.transports(
            arguments,
            concurrency: concurrency * perFile,
            openFiles: openFiles,
            omittedFields: omittedFields
        )
    }
}

/// The configuration of transports by the options.
enum TransportSettings {
    /// The number of requests that can run at a time: each needs a connection and a file, and two more files during a
    /// name lookup.
    static func affordable(_ wish: Int, openFiles: Int) -> Int {
        max(1, min(wish, (openFiles - filesOfOurs) / 4))
    }

    /// The other open files: the standard descriptors, a report, a state, the files of the transport's thread.
    private static let filesOfOurs = 22

    private static func isPort(_ text: Substring?) -> Bool {
        text.flatMap { ASCIINumber.whole($0) }.map { (0...65535).contains($0) } ?? false
    }

    /// The text between the first host, which may be an address in brackets, and the next colon.
    private static func portBehindHost(_ text: String) -> Substring? {
        var rest = text[...]
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") { rest = rest[end...] }
        return rest.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).dropFirst().first
    }

    /// Whether a text is `HOST:PORT:ADDRESS[,ADDRESS]…`, with numbers where libcurl requires them.
    private static func isResolution(_ text: String) -> Bool {
        var rest = text.hasPrefix("+") ? text.dropFirst() : text[...]
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") { rest = rest[end...] }
        let parts = rest.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, isPort(parts[1]) else { return false }
        return parts[2].split(separator: ",", omittingEmptySubsequences: false).allSatisfy { address in
            let bare = address.hasPrefix("[") && address.hasSuffix("]") ? address.dropFirst().dropLast() : address
            return Directory.isAddress(String(bare))
        }
    }

    /// The overrides of connections that the options set.
    private static func overrides(_ arguments: Arguments) throws(UsageError) -> CurlLoader.ConnectionOverrides {
        var overrides = CurlLoader.ConnectionOverrides()
        for text in arguments.all(.resolve) {
            guard text.split(separator: ":", omittingEmptySubsequences: false).count >= 3, !text.utf8.contains(0) else {
                throw .badValue(text, of: "--resolve", "is not HOST:PORT:ADDRESS")
            }
            guard Self.isResolution(text) else {
                throw .badValue(text, of: "--resolve", "has an invalid port or address: HOST:PORT:ADDRESS")
            }
            overrides.resolve.append(text)
        }
        for text in arguments.all(.connectTo) {
            guard text.split(separator: ":", omittingEmptySubsequences: false).count >= 4, !text.utf8.contains(0) else {
                throw .badValue(text, of: "--connect-to", "is not HOST:PORT:HOST:PORT")
            }
            let ports = [Self.portBehindHost(text), text.split(separator: ":", omittingEmptySubsequences: false).last]
            guard ports.allSatisfy({ $0?.isEmpty == true || Self.isPort($0) }) else {
                throw .badValue(text, of: "--connect-to", "has an invalid port: HOST:PORT:HOST:PORT")
            }
            overrides.connectTo.append(text)
        }
        overrides.unixSocket = arguments.last(.unixSocket)
        // A missing socket may be created later, by its server.
        if let path = overrides.unixSocket, [.file, .folder].contains(Directory.kind(of: path)) {
            throw .badValue(path, of: "--unix-socket", "is not a socket")
        }
        guard !arguments.has(.ipv4) || !arguments.has(.ipv6) else {
            throw UsageError("--ipv4 and --ipv6 exclude each other")
        }
        overrides.addressFamily = arguments.has(.ipv4) ? 4 : arguments.has(.ipv6) ? 6 : nil
        overrides.bytesPerSecond = try limitRate(arguments)
        overrides.texts[.interface] = arguments.last(.interface)
        overrides.minimumSpeed = try minimumSpeed(arguments)
        overrides.receiveBuffer = receiveBuffer(overrides.bytesPerSecond)
        return overrides
    }

    private static func limitRate(_ arguments: Arguments) throws(UsageError) -> Int? {
        try arguments.last(.limitRate).map { text throws(UsageError) in
            try SpeedText.bytes(text, option: "--limit-rate")
        }
    }

    /// The minimum rate of the options; nil: none.
    ///
    /// It is below a limit of the rate, whose pauses are not the server's.
    static func minimumSpeed(
        _ arguments: Arguments
    ) throws(UsageError) -> CurlLoader.ConnectionOverrides.MinimumSpeed? {
        guard arguments.has(.speedLimit) || arguments.has(.speedTime) else { return nil }
        let speed = try arguments.last(.speedLimit).map { text throws(UsageError) in
            try SpeedText.bytes(text, option: "--speed-limit")
        }
        let seconds = try arguments.last(.speedTime).map { text throws(UsageError) in
            try WholeNumber.parse(text, option: "--speed-time", in: 1...86_400)
        }
        let rate = try limitRate(arguments) ?? 0
        return .init(
            bytesPerSecond: rate > 0 ? max(1, min(speed ?? 1, rate / 2)) : speed ?? 1,
            seconds: (seconds ?? 30) + Int((try longestPause(arguments) ?? .zero).components.seconds)
        )
    }

    /// How many bytes are received at a time: as many as by the command curl, and no more than a second's.
    private static func receiveBuffer(_ rate: Int?) -> Int {
        guard let rate, rate > 0 else { return 102_400 }
        return min(102_400, max(smallestBuffer, rate))
    }

    /// The smallest buffer that libcurl takes.
    private static let smallestBuffer = 1024

    /// The longest pause that a limited rate makes: some buffers may come at once.
    static func longestPause(_ arguments: Arguments) throws(UsageError) -> Duration? {
        guard let rate = try limitRate(arguments), rate > 0 else { return nil }
        return .seconds(4 * receiveBuffer(rate) / rate)
    }

    /// How many transports there are.
    ///
    /// Two for many requests at a time on several processors: the thread that receives a large body also writes it,
    /// so that no other thread is woken for it.
    private static func numberOfTransports(_ arguments: Arguments, concurrency: Int) -> Int {
        let hasMany = arguments.has(.from) || arguments.positionals.count >= minimumRequests
        return hasMany && concurrency >= minimumRequests && Processors.areSeveral ? 2 : 1
    }

    /// The minimum number of requests for two transports.
    private static let minimumRequests = 4

    /// The transports, among which the requests are distributed.
    static func transports(
        _ arguments: Arguments,
        concurrency: Int,
        openFiles: Int,
        omittedFields: [String] = []
    ) throws(UsageError) -> [CurlLoader] {
        let count = numberOfTransports(arguments, concurrency: concurrency)
        var configuration = try configuration(arguments, concurrency, openFiles, among: count)
        configuration.overrides.omittedFields = omittedFields
        var loaders: [CurlLoader] = []
        for _ in 0..<count { loaders.append(try loader(configuration)) }
        return loaders
    }

    /// The configuration of all transports: read once, because a pipe can be read once and a password is asked for
    /// once.
    private static func configuration(
        _ arguments: Arguments,
        _ concurrency: Int,
        _ openFiles: Int,
        among count: Int
    ) throws(UsageError) -> CurlLoader.Configuration {
        var configuration = CurlLoader.Configuration()
        configuration.maximumConnectionsPerHost = concurrency
        let left = (openFiles - filesOfOurs - 3 * concurrency) / count
        configuration.maximumIdleConnections = max(1, min(left, max(64, concurrency)))
        configuration.overrides = try overrides(arguments)
        // The last of the two counts, as in curl.
        let version = arguments.given.last { $0.name == .http1 || $0.name == .http2 }
        if version?.name == .http1 { configuration.versions = .http1Only }
        if arguments.has(.publicOnly) { configuration.destinations = .publicOnly }
        try TLSSettings.apply(arguments, to: &configuration)
        try ProxySettings.apply(arguments, to: &configuration)
        return configuration
    }

    private static func loader(_ configuration: CurlLoader.Configuration) throws(UsageError) -> CurlLoader {
        do throws(InvalidArgument) {
            return try CurlLoader(configuration: configuration)
        } catch {
            guard error.argument != "proxy" else {
                throw .badValue(SanitizedURL.refused(error.value), of: "--proxy", "is not \(error.expected)")
            }
            if error.argument == "destinations" {
                throw UsageError("--public-only and --proxy exclude each other: a proxy connects where it likes")
            }
            throw UsageError("--\(error.argument == "trust" ? "cacert" : error.argument): \(error)")
        }
    }
}
