/// An option that a command takes: what the parser reads by, and what the help is made from.
struct OptionSpec: Sendable {
    /// Whether the option has a value.
    enum Value: Sendable {
        case none
        /// A value must follow; this is what the help calls it.
        case required(String)
        /// A value may stand after an equals sign.
        case optional(String)
    }

    let name: OptionName
    let short: Character?
    let aliases: [String]
    let value: Value
    let help: String
    /// The words that its value can be, or begin with; empty where they are not few.
    let choices: [String]

    init(
        _ name: OptionName,
        short: Character? = nil,
        aliases: [String] = [],
        _ value: Value,
        _ help: String,
        choices: [String] = []
    ) {
        self.name = name
        self.short = short
        self.aliases = aliases
        self.value = value
        self.help = help
        self.choices = choices
    }

    /// What `-X` is most often.
    static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

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
    /// What its value names.
    enum Subject: Sendable {
        case file, folder, other
    }

    /// What its value names, by what the help calls it.
    var subject: Subject {
        switch value {
        case .required("FILE"), .required("FILE|-"): .file
        case .required("DIR"): .folder
        default: .other
        }
    }

    /// Whether every value of a repeated option counts, and not the last one alone.
    var collects: Bool { [.header, .data, .from].contains(name) }
}

/// The long spelling of each option of any command.
enum OptionName: String, Sendable, Hashable {
    case attempt
    case attempts
    case backoff
    case batch
    case body
    case bytesSent = "bytes-sent"
    case cacert
    case concurrency
    case data
    case deadline
    case elapsed
    case error
    case from
    case header
    case help
    case idempotencyKey = "idempotency-key"
    case ignoreRetryAfter = "ignore-retry-after"
    case insecure
    case jitter
    case json
    case man
    case maxBody = "max-body"
    case maxServerDelay = "max-server-delay"
    case method
    case noBudget = "no-budget"
    case noLocation = "no-location"
    case now
    case output
    case outputDir = "output-dir"
    case policy
    case port
    case proxy
    case quiet
    case replay
    case replayUnsafe = "replay-unsafe"
    case report
    case request
    case retryStatus = "retry-status"
    case schedule
    case status
    case timelineSVG = "timeline-svg"
    case timeout
    case verbose
    case version
}
