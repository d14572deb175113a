// SPDX-License-Identifier: Apache-2.0
/// An option of a command, from which parser and help are derived.
struct OptionSpec: Sendable {
    /// Whether the option has a value.
    enum Value: Sendable {
        case none
        /// A value must follow, with this name in the help.
        case required(String)
        /// A value may follow an equals sign.
        case optional(String)
    }

    let name: OptionName
    let short: Character?
    /// Another letter for the same.
    let otherShort: Character?
    let aliases: [String]
    let value: Value
    let help: String
    /// The possible values or their beginnings; empty if they are many.
    let choices: [String]

    init(
        _ name: OptionName,
        short: Character? = nil,
        otherShort: Character? = nil,
        aliases: [String] = [],
        _ value: Value,
        _ help: String,
        choices: [String] = []
    ) {
        self.name = name
        self.short = short
        self.otherShort = otherShort
        self.aliases = aliases
        self.value = value
        self.help = help
        self.choices = choices
    }

    /// The most frequent values of `-X`.
    static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    /// Its letters.
    var letters: [Character] { [short, otherShort].compactMap(\.self) }

    /// Whether a lone hyphen may follow that means the default, as in curl's `-C -`.
    var takesHyphen: Bool { name == .continue }

    /// Every long spelling, without the hyphens.
    var spellings: [String] { [name.rawValue] + aliases }

    /// The spelling with its value, as the help shows it.
    var usage: String {
        let short = short.map { "-\($0), " } ?? "    "
        switch value {
        case .none: return "\(short)--\(name.rawValue)"
        case .required(let value): return "\(short)--\(name.rawValue) \(value)"
        case .optional(let value): return "\(short)--\(name.rawValue)[=\(value)]"
        }
    }
}

extension OptionSpec {
    /// The kind of its value.
    enum Subject: Sendable {
        case file, folder, other
    }

    /// The kinds of values, by their names in the help.
    var subject: Subject {
        switch value {
        case .required("FILE"), .required("FILE|-"), .required("FILE[:PASSWORD]"), .required("FILE|KEYS"): .file
        case .required("DIR"): .folder
        default: .other
        }
    }

    /// Whether all values of a repeated option count rather than only the last one.
    var collects: Bool {
        [
            .header, .data, .dataRaw, .dataBinary, .dataUrlencode, .json, .urlQuery, .form, .formString, .from, .cookie,
            .resolve, .connectTo, .config, .url,
        ].contains(name)
    }
}

/// The long spelling of each option of any command.
enum OptionName: String, Sendable, Hashable {
    case attempt
    case attempts
    case backend
    case backendPolicy = "backend-policy"
    case backoff
    case basic
    case batch
    case bearer
    case body
    case budget
    case bytesSent = "bytes-sent"
    case cacert
    case capath
    case caption
    case cert
    case checksumFile = "checksum-file"
    case ciphers
    case compressed
    case concurrency
    case config
    case connectTimeout = "connect-timeout"
    case connectTo = "connect-to"
    case `continue`
    case cookie
    case cookieJar = "cookie-jar"
    case cost
    case costEstimate = "cost-estimate"
    case costField = "cost-field"
    case createDirs = "create-dirs"
    case crlfile
    case curves
    case data
    case dataBinary = "data-binary"
    case dataRaw = "data-raw"
    case dataUrlencode = "data-urlencode"
    case deadline
    case disable
    case dryRun = "dry-run"
    case dumpHeader = "dump-header"
    case duration
    case elapsed
    case every
    case error
    case etagCompare = "etag-compare"
    case etagSave = "etag-save"
    case fail
    case failEarly = "fail-early"
    case failWithBody = "fail-with-body"
    case findTrigger = "find-trigger"
    case flat
    case fleet
    case form
    case formString = "form-string"
    case from
    case get
    case globoff
    case head
    case header
    case history
    case help
    case html
    case idempotencyKey = "idempotency-key"
    case idempotencyKeyField = "idempotency-key-field"
    case ignoreQuery = "ignore-query"
    case ignoreRetryAfter = "ignore-retry-after"
    case include
    case insecure
    case interface
    case ipv4
    case ipv6
    case http1 = "http1.1"
    case http2
    case jitter
    case json
    case key
    case keyLifetime = "key-lifetime"
    case limitRate = "limit-rate"
    case load
    case location
    case man
    case maxBody = "max-body"
    case maxFilesize = "max-filesize"
    case maxRedirs = "max-redirs"
    case maxServerDelay = "max-server-delay"
    case maxTime = "max-time"
    case method
    case netrc
    case netrcFile = "netrc-file"
    case noBudget = "no-budget"
    case noBuffer = "no-buffer"
    case noClobber = "no-clobber"
    case noLocation = "no-location"
    case noProgressMeter = "no-progress-meter"
    case noproxy
    case now
    case output
    case outputDir = "output-dir"
    case pace
    case parallel
    case parallelImmediate = "parallel-immediate"
    case pass
    case pinnedpubkey
    case overloadBackoff = "overload-backoff"
    case policy
    case port
    case profile
    case progress
    case progressBar = "progress-bar"
    case proto
    case protoRedir = "proto-redir"
    case proxy
    case proxyUser = "proxy-user"
    case publicOnly = "public-only"
    case quiet
    case range
    case referer
    case refresh
    case remoteHeaderName = "remote-header-name"
    case remoteName = "remote-name"
    case remoteTime = "remote-time"
    case removeOnError = "remove-on-error"
    case replay
    case replayUnsafe = "replay-unsafe"
    case report
    case request
    case resendUnknown = "resend-unknown"
    case resolve
    case retry
    case retryAllErrors = "retry-all-errors"
    case retryConnrefused = "retry-connrefused"
    case retryDelay = "retry-delay"
    case retryFor = "retry-for"
    case retryMaxTime = "retry-max-time"
    case retryStatus = "retry-status"
    case schedule
    case seed
    case seeds
    case segments
    case server
    case sha256
    case showError = "show-error"
    case silent
    case socks4
    case socks4a
    case socks5
    case socks5Hostname = "socks5-hostname"
    case speedLimit = "speed-limit"
    case speedTime = "speed-time"
    case lease
    case queue
    case state
    case status
    case storm
    case svg
    case tcpNodelay = "tcp-nodelay"
    case timeCond = "time-cond"
    case timeline
    case timelineSVG = "timeline-svg"
    case timeout
    case tls13Ciphers = "tls13-ciphers"
    case tlsMax = "tls-max"
    case tlsv1
    case tlsv10 = "tlsv1.0"
    case tlsv11 = "tlsv1.1"
    case tlsv12 = "tlsv1.2"
    case tlsv13 = "tlsv1.3"
    case trigger
    case unixSocket = "unix-socket"
    case until
    case untilJSON = "until-json"
    case uploadFile = "upload-file"
    case url
    case urlQuery = "url-query"
    case user
    case userAgent = "user-agent"
    case verbose
    case version
    case writeOut = "write-out"
}
