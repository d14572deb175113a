// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainQueue

/// What a state knows of a request of a list.
struct ListEntry: Sendable {
    /// The outcome of a request.
    enum Outcome: String, Sendable, CaseIterable {
        case pending, done, partial, failed
        /// The server may have done it, and it must not be sent again.
        case unknown
        /// It was on its way when the state was last written, so the server may have done it; only for readers of a
        /// state, which has `pending` and the time.
        case begun
        /// It was settled by hand, and is not sent any more; only for readers of a state, which has `done` and the
        /// time.
        case forgotten
    }

    var identity: String
    /// The URL, without user and password.
    var url: String
    var method: String
    /// The file, relative to the output folder.
    var name: String?
    var outcome = Outcome.pending
    var status: Int?
    /// The value of `ETag`, or of `Last-Modified`.
    var validator: String?
    var bytes: Int64 = 0
    var attempts: Int = 0
    var key: String?
    var error: String?
    /// When a request that must not be done twice was sent first, in seconds since 1970; nil: it was not sent.
    var begun: Double?
    /// Seconds since 1970.
    var ended: Double?
    /// When it was settled by hand, in seconds since 1970; nil: it was not.
    var settled: Double?
    /// How many runs have sent it and ended, one after the other, before they wrote a result.
    var claims = 0
    /// Its row, as it was read; nil: it has none yet.
    var row: RequestList.Row.Revision?
    /// Whether a run that had it has ended before it wrote a result.
    var isLeftBehind = false
    /// The other run that has it, as `HOST/PID` or `pid PID`.
    var owner: String?
    /// Whether another run has done it elsewhere, or has tried it since this run began.
    var isElsewhere = false

    /// How an error begins that says that a request has ended its senders.
    static let abandonment = "abandoned: "

    /// Whether no run sends it, since those that did have ended, until it is settled by hand.
    var isAbandoned: Bool { outcome == .failed && error?.hasPrefix(Self.abandonment) == true }

    /// A short name of the request in its state, for the command line.
    var id: String { String(ContentDigest.sha256(of: Array(identity.utf8)).prefix(12)) }

    /// The identity of a request in a list: method, URL and, with a body, a digest of what is sent.
    ///
    /// - Parameter occurrence: the number of the request among equal ones, from 1.
    static func identity(method: String, url: String, content: [UInt8] = [], occurrence: Int = 1) -> String {
        var text = method + " " + url
        if !content.isEmpty { text += " \(ContentDigest.sha256(of: content).prefix(32))" }
        return occurrence > 1 ? "\(text) #\(occurrence)" : text
    }

    /// Makes an entry.
    ///
    /// - Parameter row: what the state has of it; nil: it has no row.
    init(identity: String, url: String, method: String, name: String? = nil, row: RequestList.Row? = nil) {
        self.identity = identity
        self.url = url
        self.method = method
        self.name = name
        guard let row else { return }
        self.row = row.revision
        outcome =
            switch row.outcome {
            case .ready, .claimed: .pending
            case .done: .done
            case .failed: row.isPartial ? .partial : .failed
            case .unknown: .unknown
            }
        status = row.status
        validator = row.validator
        bytes = row.bytes
        attempts = row.attempts
        key = row.key
        error = row.error
        claims = row.claims
        begun = row.age.map { WallClock.Instant.now.sinceEpoch.inSeconds - $0.inSeconds }
        let changed = Double(row.changed) / 1000
        // A damaged row may hold any number; years have four digits.
        ended = outcome == .pending || !(0..<253_402_300_800).contains(changed) ? nil : changed
        settled = row.isForgotten ? ended : nil
        owner = row.owner
        isLeftBehind = row.isLeftBehind
    }

    /// A request of a run, with what its row says; nil: it has none.
    init(_ request: RequestList.New, _ row: RequestList.Row?) {
        let name = request.file ?? row?.file
        self.init(identity: request.name, url: request.url, method: request.method, name: name, row: row)
    }

    /// What a row says of a request that only the row knows.
    init(_ row: RequestList.Row) {
        let words = row.title.split(separator: " ", maxSplits: 1).map(String.init)
        let (method, url) = (words.first ?? "", words.count > 1 ? words[1] : "")
        let identity = EarlierState.identity(ofRow: row.name)
        self.init(identity: identity, url: url, method: method, name: row.file, row: row)
    }

    /// The entry as a reader is told of it.
    ///
    /// What a run was sending when it ended may have been done: with a key it is sent again, without one it is not.
    var shown: ListEntry {
        var entry = self
        if settled != nil { entry.outcome = .forgotten }
        if outcome == .pending, begun != nil { entry.outcome = key == nil && owner == nil ? .unknown : .begun }
        return entry
    }
}
