internal import Refrain

/// The progress of many requests, as a line on a terminal.
struct Progress {
    /// How many requests there are; of a list that is being read, those so far.
    var total: Int
    private let columns: Int
    private let start = ContinuousClock.now
    private var lastDrawn = ContinuousClock.now - .seconds(1)
    private(set) var done = 0
    private(set) var retried = 0
    private(set) var failed = 0

    init(total: Int, columns: Int) {
        self.total = total
        self.columns = max(20, columns)
    }

    /// Counts an outcome.
    mutating func count(_ outcome: FetchOutcome) {
        done += 1
        if outcome.wasRetried { retried += 1 }
        if !outcome.isSuccess { failed += 1 }
    }

    /// The line, where it is time to draw it again: ten times a second, and at the end.
    mutating func next() -> String? {
        let now = ContinuousClock.now
        guard done == total || now - lastDrawn >= .milliseconds(100) else { return nil }
        lastDrawn = now
        return line(elapsed: now - start)
    }

    /// The line for a time.
    func line(elapsed: Duration) -> String {
        let seconds = max(elapsed.inSeconds, 0.001)
        let rate = Decimals.text(Double(done) / seconds, places: 0)
        let words = " \(done)/\(total) done, \(rate)/s, \(retried) retried, \(failed) failed"
        let width = min(30, columns - words.count - 3)
        guard width >= 5, total > 0 else { return "\r" + String(words.dropFirst().prefix(columns - 1)) + "\u{1B}[K" }
        let full = done * width / total
        return "\r[" + String(repeating: "█", count: full) + String(repeating: "░", count: width - full) + "]\(words)"
            + "\u{1B}[K"
    }

    /// The characters that clear the line.
    static let clear = "\r\u{1B}[K"
}

/// How progress is shown.
enum ProgressKind: Sendable {
    /// A line on a terminal.
    case line
    /// One JSON object per line on standard error.
    case json
    case none

    init(_ arguments: Arguments) throws(UsageError) {
        let isQuiet = arguments.has(.quiet) || arguments.has(.silent) || arguments.has(.noProgressMeter)
        switch arguments.last(.progress) {
        case nil, "auto": self = isQuiet ? .none : .line
        case "json": self = .json
        case "none": self = .none
        case .some(let other): throw .badValue(other, of: "--progress", "is none of auto, json and none")
        }
    }
}
