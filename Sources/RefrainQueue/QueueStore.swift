// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainHTTP

/// Where the rows of a queue are: SQLite in one file, or PostgreSQL.
///
/// The calls block; ``StoreThread`` makes them one after the other. A store keeps rows and their owners. It neither
/// counts attempts nor decides on them.
package protocol QueueStore: AnyObject {
    /// How long a claim lasts without a renewal; nil: as long as the process.
    var lease: Duration? { get }
    /// How often a worker looks for requests that other processes have enqueued.
    var pollInterval: Duration { get }

    /// Stores requests in one transaction; nil for each that has the name of another one.
    func enqueue(_ requests: [NewRequest]) throws(QueueError) -> [Int64?]
    /// Takes requests that are due, at most `limit`, and marks those that may be repeated as begun.
    ///
    /// - Parameter wantsBegun: whether to take only requests that may have been sent, whose keys age.
    func claim(_ limit: Int, token: Int64, wantsBegun: Bool) throws(QueueError) -> [Claim]
    /// Notes that requests are sent from now on; false for each that another worker owns.
    func begin(_ claims: [Claim]) throws(QueueError) -> [Bool]
    /// Notes that a request waits, so that the claim does not count if its worker ends meanwhile.
    ///
    /// - Parameter isUnsent: whether it was not processed for certain, so that it has not begun.
    func rest(_ claim: Claim, isUnsent: Bool) throws(QueueError)
    /// Extends the claims of all tokens that are in use, and returns the identifiers of the rows that are still owned.
    func renew(_ tokens: Set<Int64>) throws(QueueError) -> Set<Int64>
    /// Writes results; false for each whose row another worker owns.
    func finish(_ results: [ClaimResult]) throws(QueueError) -> [Bool]
    /// Gives back requests that were not begun.
    func release(_ claims: [Claim]) throws(QueueError)
    /// Removes what is done and older than `keep`.
    func tidy(keep: Duration) throws(QueueError)
    /// The rows of a state, oldest first, after an identifier; or one row.
    func rows(_ selection: RowSelection) throws(QueueError) -> [RequestQueue.Item]
    /// Settles a row that has an outcome; false if there is none.
    func settle(_ id: Int64, _ settlement: RequestQueue.Settlement, newKey: String) throws(QueueError) -> Bool
    /// Whether workers of any process leave the queue alone.
    func isPaused() throws(QueueError) -> Bool
    func setPaused(_ isPaused: Bool) throws(QueueError)
}

/// Which rows are read.
package enum RowSelection: Sendable {
    case id(Int64)
    case outcome(RequestQueue.Item.Outcome?, after: Int64, limit: Int)
    /// One that waits or is with a worker.
    case unfinished
}

/// A request to store.
package struct NewRequest: Sendable {
    package var request: StoredRequest
    package var lane: String?
    package var name: String?
    /// How long from now it must wait.
    package var delay: Duration
}

/// A request that this worker owns.
package struct Claim: Sendable {
    package var id: Int64
    package var token: Int64
    package var request: StoredRequest
    /// How many workers have had it under way since its last result, the one of this claim included.
    package var claims: Int
    /// The attempts of earlier claims that the schedule counts.
    package var attempts: Int
    /// How long ago it was begun by an earlier claim; nil: never.
    package var age: Duration?
}

/// The result of a claim.
package struct ClaimResult: Sendable {
    package var id: Int64
    package var token: Int64
    package var outcome: Outcome
    /// The attempts that this claim made.
    package var attempts = 0
    package var status: Int?
    package var error: String?
    package var record = ""
    /// Whether it was not processed for certain, so that it has not begun.
    package var isUnsent = false

    /// What the engine answered.
    package enum Outcome: Sendable, Hashable {
        case done, failed, unknown
        case later(Duration)

        var state: RequestQueue.Item.Outcome {
            switch self {
            case .done: .done
            case .failed: .failed
            case .unknown: .unknown
            case .later: .ready
            }
        }
    }

    package init(_ claim: Claim, _ outcome: Outcome, error: String? = nil) {
        (id, token) = (claim.id, claim.token)
        self.outcome = outcome
        self.error = error
    }
}

extension RequestQueue.Item.Outcome {
    /// The number of a state in a row.
    package var number: Int64 {
        switch self {
        case .ready: 0
        case .claimed: 1
        case .done: 2
        case .failed: 3
        case .unknown: 4
        }
    }

    package init(number: Int64?) { self = Self.allCases.first { $0.number == number } ?? .unknown }
}
