// SPDX-License-Identifier: Apache-2.0
public import RefrainCore
public import RefrainHTTP
public import RefrainSession

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A durable queue of requests, for programs that must not lose one: an outbox.
///
/// ```swift
/// let queue = try await RequestQueue(.sqlite("outbox.sqlite"))
/// var order = try HTTPRequest(
///     "https://api.example.com/orders",
///     method: .post,
///     body: .json(person)
/// )
/// order.idempotencyKey = .generated
/// try await queue.enqueue(order, lane: "customer-7")
///
/// let worker = queue.worker(on: session, concurrency: 16)
/// worker.onEnd { item in if item.outcome != .done { print(item) } }
/// try await worker.run()
/// ```
///
/// A request that was enqueued is on the disk, with its key. A worker sends it, in another process or after a crash if
/// need be, until it is done, has failed, or its outcome is unknown: with a key at least once, and placed once by a
/// server that honours the key; without a key, and with a method that is not idempotent, at most once. The session's
/// policy decides on attempts and delays, and the queue keeps the requests that wait for long (rule R37).
public final class RequestQueue: Sendable {
    /// The most claims without a result: a request that ends its senders is not sent for ever.
    public static let maxClaims = 5

    /// Where the rows of a queue are.
    public struct Location: Sendable {
        package enum Kind: Sendable {
            case sqlite(String)
            #if PostgreSQL
            case postgres(String)
            #endif
        }

        package let kind: Kind

        /// A file of SQLite, which several processes of one machine may share; it is made where it is missing.
        ///
        /// It may be the application's own database: the tables are `refrain_queue` and `refrain_request`. A path that
        /// names no file, such as `:memory:`, is refused, because what it holds does not outlive the process.
        public static func sqlite(_ path: String) -> Location { Location(kind: .sqlite(path)) }

        #if PostgreSQL
        /// A database of PostgreSQL, which the workers of several machines share; the trait `PostgreSQL` is on.
        ///
        /// The tables `refrain_queue` and `refrain_request`, and a function for the triggers of the second, are made in
        /// the first schema of the search path.
        ///
        /// - Parameter text: a URL or the words of libpq, such as `postgres://host/database` or `service=orders`.
        public static func postgres(_ text: String) -> Location { Location(kind: .postgres(text)) }
        #endif

        /// Opens the store of a queue.
        package func open(
            _ name: String = "default",
            _ settings: Settings = Settings(),
            _ clocks: RetryClocks = .system
        ) throws(QueueError) -> any QueueStore {
            switch kind {
            case .sqlite(let path): return try SQLiteStore(path: path, queue: name, clocks: clocks)
            #if PostgreSQL
            case .postgres(let text): return try PostgresStore(text, queue: name, lease: settings.lease)
            #endif
            }
        }
    }

    /// The settings of a queue.
    public struct Settings: Sendable {
        /// How long a server keeps an idempotency key; beyond it a request that may have been sent is not repeated.
        ///
        /// Defaults to 24 h.
        public var keyLifetime = Duration.seconds(86_400)
        /// How long rows of requests that are done are kept, and their names refused.
        ///
        /// Defaults to 7 days, and is a minute at the minimum. Rows that have failed or are unknown stay until they are
        /// settled.
        public var keep = Duration.seconds(7 * 86_400)
        /// How long a claim lasts without a renewal, where several machines share a store.
        ///
        /// Defaults to 30 s; one under 1 s counts as 1 s. A file of SQLite has no such time: its claims end with their
        /// process.
        public var lease = Duration.seconds(30)

        /// Makes the default settings.
        public init() {}
    }

    /// What a person decides on a request that has failed or is unknown.
    public struct Settlement: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case done
            case again(hasNewKey: Bool)
        }

        let kind: Kind

        /// It counts as done.
        public static let done = Settlement(kind: .done)
        /// It is sent again, with its key, if it has one, and with all attempts of the policy.
        ///
        /// One that may have been sent longer ago than ``Settings/keyLifetime`` is unknown again: it needs a new key.
        public static let again = Settlement(kind: .again(hasNewKey: false))
        /// It is sent again, with a new key on request: the server then takes it for another one.
        public static func again(newKey: Bool) -> Settlement { Settlement(kind: .again(hasNewKey: newKey)) }
    }

    /// The name of the queue; one store may have several.
    public let name: String
    /// The settings.
    public let settings: Settings
    package let store: StoreThread
    let clocks: RetryClocks
    private let location: Location
    /// The tokens of the claims in flight, with the number of their rows.
    let tokens = Locked<[Int64: Int]>([:])
    /// The workers of this process, which an enqueue wakes.
    private let wakeups = Locked<[WeakWakeup]>([])

    /// Opens a queue, and makes its store where it is missing.
    ///
    /// - Parameters:
    ///   - location: where the rows are.
    ///   - name: the name of the queue.
    ///   - settings: times.
    ///   - clocks: the clocks of waits and dates.
    /// - Throws: ``QueueError`` if the store cannot be used.
    public convenience init(
        _ location: Location,
        name: String = "default",
        settings: Settings = Settings(),
        clocks: RetryClocks = .system
    ) async throws(QueueError) {
        try await self.init(location, name: name, settings: settings, clocks: clocks) { $0 }
    }

    /// Opens a queue whose store is wrapped, as by a test.
    package init(
        _ location: Location,
        name: String = "default",
        settings: Settings = Settings(),
        clocks: RetryClocks = .system,
        wrapping: @escaping @Sendable (any QueueStore) -> any QueueStore
    ) async throws(QueueError) {
        try Self.check(name, "the name of the queue")
        store = try await StoreThread.open { () throws(QueueError) in
            wrapping(try location.open(name, settings, clocks))
        }
        (self.location, self.name, self.settings, self.clocks) = (location, name, settings, clocks)
    }

    // MARK: Enqueuing

    /// Stores a request; it is on the disk when the call returns.
    ///
    /// Header fields with secrets, such as `Authorization` and `Cookie`, and those in `secretHeaders` are not stored,
    /// nor are the user and password of the URL: the session of the worker adds them (an adapter or an authentication
    /// interceptor). Stored are method, URL, other fields, body, key, ``/RefrainHTTP/HTTPRequest/replay``, the timeout
    /// of an attempt, and whether redirects are followed. A file of more than 1 MiB is referred to by path, size and
    /// digest, and must stay.
    ///
    /// - Parameters:
    ///   - request: the request, with an ``/RefrainHTTP/HTTPRequest/idempotencyKey`` if it must not be placed twice.
    ///     The key is made here, and stays the same.
    ///   - lane: requests of one lane are sent one after the other, in the order in which they were enqueued. One that
    ///     has failed or is unknown does not stop the rest.
    ///   - dedupe: the name of the request; another one of that name is refused.
    ///   - delay: how long it waits at least. Defaults to zero.
    /// - Returns: the identifier of the item; nil: there is one of that name.
    /// - Throws: ``QueueError``; nothing is stored then, unless the answer of the database was lost
    ///   (``QueueError/Code/disconnected``): with a name the request can be enqueued again.
    @discardableResult
    public func enqueue(
        _ request: HTTPRequest,
        lane: String? = nil,
        dedupe: String? = nil,
        after delay: Duration = .zero
    ) async throws(QueueError) -> Item.ID? {
        let id = try await store.enqueue(try await storedRequest(request, lane, dedupe, delay))
        wakeWorkers()
        return id
    }

    /// Stores requests in one transaction: all of them or none.
    ///
    /// - Returns: the identifiers of the items.
    @discardableResult
    public func enqueue(_ requests: [HTTPRequest], lane: String? = nil) async throws(QueueError) -> [Item.ID] {
        var all: [NewRequest] = []
        all.reserveCapacity(requests.count)
        for request in requests { all.append(try await storedRequest(request, lane, nil, .zero)) }
        let ids = try await store.call { [all] store throws(QueueError) in try store.enqueue(all) }
        wakeWorkers()
        return ids.compactMap { $0 }
    }

    /// Returns the INSERT of a request, for the application's own transaction.
    ///
    /// The application's change and the request are then both stored, or neither is.
    ///
    /// ```swift
    /// let row = try queue.row(for: request, dedupe: "event-41")
    /// try database.execute(row.sql, row.values)
    /// ```
    ///
    /// The statement does nothing where there is a request of that name. It is for the database that the queue is in,
    /// with any driver. A worker of this process sees the row within its poll interval, 0.2 s for SQLite.
    ///
    /// - Throws: ``QueueError`` for a request that cannot be stored.
    public func row(
        for request: HTTPRequest,
        lane: String? = nil,
        dedupe: String? = nil,
        after delay: Duration = .zero
    ) throws(QueueError) -> Row {
        let new = try Self.newRequest(request, lane, dedupe, delay)
        switch location.kind {
        case .sqlite:
            let now = clocks.wallNow.sinceEpoch.inMilliseconds
            return Row(sql: SQLiteStore.insert, SQLiteStore.values(new, queue: name, now: now))
        #if PostgreSQL
        case .postgres: return Row(sql: PostgresStore.insert, PostgresStore.values(new, queue: name))
        #endif
        }
    }

    /// An INSERT and its values, in the order of its parameters.
    public struct Row: Sendable, Hashable {
        /// A value of a column.
        public enum Value: Sendable, Hashable {
            /// NULL.
            case null
            /// A whole number of 64 bits.
            case integer(Int64)
            /// Text without NUL.
            case text(String)
            /// Bytes.
            case bytes([UInt8])
        }

        /// The statement, with numbered parameters.
        public let sql: String
        /// The values of the parameters.
        public let values: [Value]

        init(sql: String, _ values: [Database.Value]) {
            self.sql = sql
            self.values = values.map { value in
                switch value {
                case .null, .real: .null
                case .integer(let number): .integer(number)
                case .text(let text): .text(text)
                case .blob(let bytes): .bytes(bytes)
                }
            }
        }
    }

    /// The row of a request, whose file is read away from the threads of the tasks.
    private func storedRequest(
        _ request: HTTPRequest,
        _ lane: String?,
        _ dedupe: String?,
        _ delay: Duration
    ) async throws(QueueError) -> NewRequest {
        guard case .file = request.body.storage else { return try Self.newRequest(request, lane, dedupe, delay) }
        return try await blocking { () throws(QueueError) in try Self.newRequest(request, lane, dedupe, delay) }
    }

    private static func newRequest(
        _ request: HTTPRequest,
        _ lane: String?,
        _ dedupe: String?,
        _ delay: Duration
    ) throws(QueueError) -> NewRequest {
        try check(lane, "the lane")
        try check(dedupe, "the name of a request")
        // A store adds it to its own time.
        let delay = delay.clampedToDelay
        return NewRequest(request: try StoredRequest(request), lane: lane, name: dedupe, delay: delay)
    }

    private static func check(_ text: String?, _ what: String) throws(QueueError) {
        guard let text else { return }
        guard !text.isEmpty, !text.utf8.contains(0), text.utf8.count <= 1000 else {
            throw QueueError(.invalidRequest, "\(what) must have 1 to 1000 bytes and no NUL")
        }
    }

    // MARK: Reading and settling

    /// The requests of an outcome, oldest first; nil: all of them.
    ///
    /// - Parameters:
    ///   - outcome: which ones. Those that have failed and those that are unknown are the dead letters.
    ///   - id: only those after this identifier, to read the next page.
    ///   - limit: at most so many. Defaults to 1000.
    public func items(
        _ outcome: Item.Outcome? = nil,
        after id: Item.ID = 0,
        limit: Int = 1000
    ) async throws(QueueError) -> [Item] {
        try await store.call { store throws(QueueError) in
            try store.rows(.outcome(outcome, after: id, limit: max(0, limit)))
        }
    }

    /// The item of an identifier; nil: there is none any more.
    public func item(_ id: Item.ID) async throws(QueueError) -> Item? {
        try await store.call { store throws(QueueError) in try store.rows(.id(id)) }.first
    }

    /// Settles a request that has failed or is unknown.
    ///
    /// - Throws: ``QueueError/Code/noSuchItem`` if there is no such item, or if its outcome is another one.
    public func settle(_ id: Item.ID, _ settlement: Settlement) async throws(QueueError) {
        let key = UUID().uuidString.lowercased()
        let isSettled = try await store.call { store throws(QueueError) in
            try store.settle(id, settlement, newKey: key)
        }
        guard isSettled else {
            guard let item = try await item(id) else { throw QueueError(.noSuchItem, "there is no item \(id)") }
            let outcome = item.outcome.rawValue
            throw QueueError(.noSuchItem, "item \(id) is \(outcome); only one that is failed or unknown can be settled")
        }
        wakeWorkers()
    }

    /// Stops all workers of the queue, in every process, from taking further requests, until ``resume()``.
    public func pause() async throws(QueueError) {
        try await store.call { store throws(QueueError) in try store.setPaused(true) }
    }

    /// Lets the workers go on.
    public func resume() async throws(QueueError) {
        try await store.call { store throws(QueueError) in try store.setPaused(false) }
        wakeWorkers()
    }

    // MARK: Workers

    /// Returns a worker that sends the requests of this queue through a session.
    ///
    /// - Parameters:
    ///   - session: sends the requests; its policy decides on attempts and delays.
    ///   - concurrency: how many requests are in flight. Defaults to 16; a number under 1 counts as 1.
    public func worker(on session: Session, concurrency: Int = 16) -> Worker {
        Worker(self, concurrency: concurrency) { request in await session.result(of: request) }
    }

    /// Returns a worker that sends the requests of this queue through a loader with a ``/RefrainHTTP/Retry`` stage.
    public func worker(on loader: some HTTPLoader, concurrency: Int = 16) -> Worker {
        let gated = loader.withDurableGate
        return Worker(self, concurrency: concurrency) { request in await gated.load(request) }
    }

    /// Ends one use of a token; it is renewed as long as there is another one.
    func endClaim(of token: Int64) {
        tokens.withLock { tokens in
            let uses = (tokens[token] ?? 1) - 1
            tokens[token] = uses > 0 ? uses : nil
        }
    }

    func register(_ wakeup: Wakeup) {
        wakeups.withLock { all in
            all.removeAll { $0.wakeup == nil }
            all.append(WeakWakeup(wakeup: wakeup))
        }
    }

    private func wakeWorkers() {
        for known in wakeups.withLock({ $0 }) { known.wakeup?.signal() }
    }
}

extension Session {
    /// The result of a request as a chain returns it.
    fileprivate func result(of request: HTTPRequest) async -> HTTPResult {
        let answer = await self.request(request, shouldAutomaticallyResume: true).serializingResponse().response
        switch answer.result {
        case .success(let response): return .success(response)
        case .failure(.sessionTaskFailed(let error)): return .failure(error)
        case .failure(let error):
            let code: HTTPError.Code =
                switch error {
                case .explicitlyCancelled: .cancelled
                case .sessionInvalidated, .sessionDeinitialized: .sessionInvalidated
                default: .callerFailed
                }
            var failure = HTTPError(
                code,
                request: request,
                response: answer.response,
                underlyingError: error,
                message: "\(error)",
                // Every attempt leaves a record.
                bytesSent: answer.attempts.isEmpty ? 0 : answer.metrics?.bytesSent
            )
            failure.attempts = answer.attempts
            return .failure(failure)
        }
    }
}
