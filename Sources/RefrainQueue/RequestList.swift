// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import RefrainCore

/// The rows of lists of requests, in the table of the queues.
///
/// A run that has the list sends its requests, so a row has no header fields and no body. No worker of a queue takes
/// such rows, since they are not due; a run claims those that its list names. Every write names the token of the run,
/// so that one that has lost a row changes nothing of it.
package enum RequestList {
    /// A row, as a run finds it.
    package struct Row: Sendable {
        /// What tells whether a row has changed since it was read.
        package struct Revision: Sendable {
            package var id: Int64
            var outcome = RequestQueue.Item.Outcome.ready
            var changed: Int64 = 0
            var token: Int64?
        }

        package var revision: Revision
        package var name: String
        /// Method and URL; empty in what ``Store/register(_:isDurable:taking:)`` returns.
        package var title: String
        package var outcome: RequestQueue.Item.Outcome
        /// Whether it has failed, and a part of its content is kept.
        package var isPartial = false
        /// Whether a person has settled it, so that it is not sent any more.
        package var isForgotten = false
        package var key: String?
        /// How long ago it may first have been sent; nil: it was not.
        ///
        /// Negative where the clock was set back since.
        package var age: Duration?
        package var attempts = 0
        /// How many runs have ended, one after the other, while they had it under way.
        package var claims = 0
        package var status: Int?
        package var error: String?
        /// The file of its content, as the run that wrote its result names it.
        package var file: String?
        package var bytes: Int64 = 0
        package var validator: String?
        /// Where that file is; nil: it is not noted.
        package var place: String?
        /// The other run that has it, as `HOST/PID` or `pid PID`; nil: none has, or its claim has ended.
        package var owner: String?
        /// Whether a run that had it has ended before it wrote a result.
        package var isLeftBehind = false
        /// Whether another run has changed its state since this one began.
        package var isRecent = false

        package var id: Int64 { revision.id }
        /// When its state changed, in milliseconds since 1970.
        package var changed: Int64 { revision.changed }
    }

    /// A request to register.
    package struct New: Sendable {
        package var name: String
        /// The name that an earlier version gave it; nil: none.
        package var earlierName: String?
        package var method: String
        package var url: String
        package var key: String?
        /// The file of its content.
        package var file: String?
        /// What two requests for one file have in common; nil: it has no file.
        package var target: String?

        package init(
            name: String,
            earlierName: String? = nil,
            method: String,
            url: String,
            key: String? = nil,
            file: String? = nil,
            target: String? = nil
        ) {
            (self.name, self.earlierName, self.method, self.url) = (name, earlierName, method, url)
            (self.key, self.file, self.target) = (key, file, target)
        }

        /// Method and URL, as a row has them.
        var title: String { "\(method) \(url)" }
    }

    /// What a new request takes from a row of an earlier run that has its file.
    package enum Taking: Sendable {
        case nothing
        /// The file; the row stays.
        case file
        /// The file, and the row is removed.
        case row
    }

    /// The result of a claimed request.
    package struct Result: Sendable {
        package var id: Int64
        package var outcome: RequestQueue.Item.Outcome
        package var isPartial = false
        package var attempts: Int
        package var status: Int?
        package var error: String?
        package var file: String?
        package var bytes: Int64 = 0
        package var validator: String?
        package var place: String?
        /// Whether it may have been done, so that its row keeps the time at which it was first sent.
        package var hasBegun: Bool

        package init(id: Int64, outcome: RequestQueue.Item.Outcome, attempts: Int, hasBegun: Bool) {
            (self.id, self.outcome, self.attempts, self.hasBegun) = (id, outcome, attempts, hasBegun)
        }
    }

    /// What becomes of a row that is settled.
    package enum Settlement: Sendable {
        /// It is sent again, as if it had never been sent.
        case again
        /// It is sent again with its key.
        case againWithKey
        /// It is not sent any more.
        case forgotten
    }

    /// The claims of a run, which may be asked from any thread.
    package final class Claims: Sendable {
        let lease: Lease
        let ids = Locked<Set<Int64>>([])

        init(_ lease: Lease) { self.lease = lease }

        /// Whether the run has claimed a request, and no other run has it as far as the store has said.
        package func holds(_ id: Int64) -> Bool { ids.withLock { $0.contains(id) } }

        /// Whether a request may still be sent, by this machine's own clock and by what the store said last.
        package func mayStillSend(_ id: Int64) -> Bool { lease.isValid && holds(id) }
    }

    /// Where the rows are: a file that runs of one machine share, or a database for those of several.
    ///
    /// The calls block, and are made one after the other.
    package protocol Store: AnyObject {
        /// What the run may send.
        var claims: Claims { get }
        /// The longest name of a row, in bytes; nil: any.
        var nameLimit: Int? { get }
        /// How often ``renew()`` must be called; nil: a claim lasts as long as the process.
        var renewalInterval: Duration? { get }

        /// Extends all claims of the run, and gives up those that another run has taken.
        func renew() throws(QueueError)
        /// Writes the rows that are missing, and returns all, in the order of the requests.
        ///
        /// - Parameters:
        ///   - isDurable: whether the rows are on the disk when this returns; keys must be.
        ///   - taking: decides about a row of an earlier run that has the file of the request at an index.
        /// - Returns: for each request its row, or nil where its file belongs to another request.
        func register(
            _ requests: [New],
            isDurable: Bool,
            taking: (Row, Int) -> Taking
        ) throws(QueueError) -> [Row?]
        /// Takes rows that are as they were read; false for each that has changed since, or that another run has.
        func claim(_ rows: [Row.Revision]) throws(QueueError) -> [Bool]
        /// Notes that a claimed request is about to be sent, and counts the send; it is on the disk when this returns.
        ///
        /// - Parameters:
        ///   - age: how long ago it was first sent.
        ///   - key: its key.
        /// - Returns: false where another run has taken it.
        func begin(_ id: Int64, age: Duration, key: String?) throws(QueueError) -> Bool
        /// Adds sends of claimed requests to the attempts of their rows, and notes whether they are under way.
        ///
        /// - Returns: false for each that another run has taken.
        func count(_ sends: [(id: Int64, count: Int, claims: Int)]) throws(QueueError) -> [Bool]
        /// Writes results; false for each whose row another run has taken.
        ///
        /// - Parameter mayBeWritten: whether the answer to an earlier write of these results was lost, so that rows
        ///   which have them were not taken.
        /// - Throws: also if a row is gone, since no other run knows the request.
        func finish(_ results: [Result], mayBeWritten: Bool) throws(QueueError) -> [Bool]
        /// Gives back what this run has claimed and not sent.
        func release() throws(QueueError)
        /// Notes whether all requests of a list have rows.
        func note(list name: String, isRead: Bool) throws(QueueError)
        /// Removes the unfinished requests of earlier runs of the list that are not in it any more.
        ///
        /// To be called when all requests of the list are registered. One that has a key or may have been sent stays.
        ///
        /// - Returns: their number, and the files that they alone would have written.
        func forgetLeftovers() throws(QueueError) -> (count: Int, files: [String])
        /// All rows.
        func all() throws(QueueError) -> [Row]
        /// Settles rows, all or none.
        ///
        /// - Throws: ``QueueError`` where one has changed since it was read; nothing was written then.
        func settle(_ changes: [(row: Row, settlement: Settlement)]) throws(QueueError)
    }

    /// Calls a closure at even intervals, on a thread of its own, until it is cancelled.
    package final class Renewal: @unchecked Sendable {
        // @unchecked Sendable: a timer of Dispatch may be used from any thread.
        private let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "refrain.claims"))

        package init(every interval: Duration, _ renew: @escaping @Sendable () -> Void) {
            timer.schedule(deadline: .now() + interval.inSeconds, repeating: interval.inSeconds)
            timer.setEventHandler(handler: renew)
            timer.activate()
        }

        package func cancel() { timer.cancel() }

        deinit { timer.cancel() }
    }

    /// Makes blocking calls one after the other, away from the threads of the tasks.
    package struct CallThread: Sendable {
        private let queue = DispatchQueue(label: "refrain.state")

        package init() {}

        package func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
            await resumption { continuation in
                queue.async { continuation.resume(returning: body()) }
            }
        }
    }
}
