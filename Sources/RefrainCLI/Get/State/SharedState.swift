// SPDX-License-Identifier: Apache-2.0
#if PostgreSQL
internal import Refrain
internal import RefrainQueue

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The outcomes of requests in PostgreSQL, for runs on any number of machines, with the same list or different ones.
///
/// A run claims what it is about to send. What another run has claimed waits, until that one has written a result or
/// its lease has ended: then it is done, or claimed here.
///
/// While the database is out of reach, for a minute, a run sends nothing and makes its calls again. What it had claimed
/// is still its own afterwards unless another run has taken it, which the token tells.
final class SharedState: RunState {
    private struct Box: @unchecked Sendable {
        // @unchecked Sendable: used only with the lock held.
        let requests: SharedRequests
        /// The rows of the requests of this run, as they were read last.
        var rows: [Int64: SharedRequests.Row] = [:]
        /// The identities of the requests that write the files of this run, by the names of these.
        var owners: [String: String] = [:]
    }

    private let box: Locked<Box>
    /// Where the calls of a run block.
    private let thread = SharedRequests.CallThread()
    /// Since when the database has been out of reach; nil: it is not, as far as the last call tells.
    private let outage = Locked<ContinuousClock.Instant?>(nil)
    /// For how long that is borne.
    private let patience: Duration
    private let say: @Sendable (String) -> Void
    private let claims: SharedRequests.Claims
    private let renewal: SharedRequests.Renewal
    /// This machine and its output folder, where the files of its requests are; nil without a folder.
    private let place: String?

    /// Connects.
    ///
    /// - Parameters:
    ///   - folder: the folder of the files, if there is one.
    ///   - patience: how long a run waits for a database that is out of reach.
    ///   - say: tells the user that it does so.
    init(
        _ location: SharedStateLocation,
        folder: String? = nil,
        patience: Duration = .seconds(60),
        say: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(UsageError) {
        (self.patience, self.say) = (patience, say)
        do throws(QueueError) {
            let requests = try SharedRequests(location.url, name: location.queue, lease: location.lease)
            claims = requests.claims
            let interval = requests.renewalInterval
            let box = Locked(Box(requests: requests))
            self.box = box
            // A failure is told by the writes, and by what is not sent once the lease is over.
            renewal = SharedRequests.Renewal(every: interval) { box.withLock { try? $0.requests.renew() } }
        } catch {
            throw UsageError("\(error)")
        }
        place = folder.map { "\(Self.hostName):\(Directory.identity(of: $0))" }
    }

    private static let hostName: String = {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    /// Reads or changes the database at once, or fails.
    private func access<Value>(_ body: (inout Box) throws(QueueError) -> Value) throws(DatabaseError) -> Value {
        do throws(QueueError) {
            return try box.result(body).get()
        } catch {
            throw DatabaseError("\(error)")
        }
    }

    // MARK: The run

    /// Makes a call of a run; while the database is out of reach, makes it again.
    ///
    /// - Parameter body: is told whether it was called before, so that its writes may have been made.
    private func call<Value: Sendable>(
        _ body: @escaping @Sendable (inout Box, _ isAgain: Bool) throws(QueueError) -> Value
    ) async throws(DatabaseError) -> Value {
        let failure: QueueError
        switch await attempt(body, isAgain: false) {
        case .success(let value): return value
        case .failure(let error): failure = error
        }
        do {
            guard isBorne(failure) else { throw failure }
            // Outside of the loop was the first attempt, which is made in a run that was cancelled, too.
            return try await withRetry(.constant(delay: .milliseconds(500), maxAttempts: nil).jittered(.equal)) {
                ($0 as? QueueError).map(isBorne) ?? false
            } operation: {
                try await attempt(body, isAgain: true).get()
            }
        } catch {
            throw DatabaseError("\(error as? QueueError ?? failure)")
        }
    }

    private func attempt<Value: Sendable>(
        _ body: @escaping @Sendable (inout Box, _ isAgain: Bool) throws(QueueError) -> Value,
        isAgain: Bool
    ) async -> Result<Value, QueueError> {
        let result = await thread.run { [box] in
            box.result { box throws(QueueError) in try body(&box, isAgain) }
        }
        if case .success = result { outage.withLock { $0 = nil } }
        return result
    }

    /// Whether a call is made again after an error, which is told once.
    private func isBorne(_ error: QueueError) -> Bool {
        guard [.disconnected, .busy].contains(error.code) else { return false }
        let now = ContinuousClock.now
        let (isNew, began) = outage.withLock { outage in
            defer { outage = outage ?? now }
            return (outage == nil, outage ?? now)
        }
        if isNew {
            let time = DurationText.plain(patience)
            say("PostgreSQL is out of reach, so that nothing is sent; trying for up to \(time) to reach it: \(error)")
        }
        return now - began < patience
    }

    func register(
        _ entries: [Entry],
        isDurable: Bool,
        isAbsent: (Int) -> Bool
    ) async throws(DatabaseError) -> [Entry?] {
        try await call { [self] box, _ throws(QueueError) in
            let new = entries.map { entry in
                let name = Self.name(of: entry.identity)
                return SharedRequests.New(name: name, title: "\(entry.method) \(entry.url)", key: entry.key)
            }
            let rows = try box.requests.register(new)
            return zip(entries, rows).map { wanted, row in
                box.rows[row.id] = row
                if let name = wanted.name {
                    let owner = box.owners[OutputNaming.folded(name)] ?? wanted.identity
                    box.owners[OutputNaming.folded(name)] = owner
                    guard owner == wanted.identity else { return nil }
                }
                var entry = entry(row)
                entry.name = wanted.name
                return entry
            }
        }
    }

    /// The name of the row of a request: its identity, shortened where an index of PostgreSQL has no room for it.
    private static func name(of identity: String) -> String {
        guard identity.utf8.count > 1000 else { return identity }
        return "\(identity.prefix(200)) \(ContentDigest.sha256(of: Array(identity.utf8)))"
    }

    private func entry(_ row: SharedRequests.Row) -> Entry {
        let words = row.title.split(separator: " ", maxSplits: 1)
        var entry = Entry(
            identity: row.name,
            url: words.count > 1 ? String(words[1]) : "",
            method: words.first.map(String.init) ?? ""
        )
        entry.row = row.id
        let detail = row.detail.flatMap { try? JSONNode.parse(Array($0.utf8)) }
        entry.outcome =
            switch row.outcome {
            case .ready, .claimed: .pending
            case .done: .done
            case .failed: .failed
            case .unknown: .unknown
            }
        entry.status = row.status
        entry.validator = detail?["validator"]?.text
        if case .number(let bytes)? = detail?["bytes"]?.value { entry.bytes = Int64(exactly: bytes) ?? 0 }
        entry.name = detail?["file"]?.text
        entry.attempts = row.attempts
        entry.key = row.key
        entry.error = row.error
        entry.begun = row.age.map { WallClock.Instant.now.sinceEpoch.inSeconds - $0.inSeconds }
        entry.ended = row.outcome == .ready || row.outcome == .claimed ? nil : Double(row.changed) / 1000
        if detail?["forgotten"] != nil { entry.settled = entry.ended }
        entry.owner = row.owner
        entry.isLeftBehind = row.outcome == .claimed && row.owner == nil
        entry.claims = entry.isLeftBehind ? row.claims : 0
        entry.isElsewhere =
            switch row.outcome {
            case .done: place == nil || detail?["place"]?.text != place
            case .failed: row.isRecent
            default: false
            }
        return entry
    }

    func claim(_ entries: [Entry]) async throws(DatabaseError) -> [Bool] {
        try await call { box, _ throws(QueueError) in
            try box.requests.claim(entries.compactMap { $0.row.flatMap { box.rows[$0] } })
        }
    }

    func followsKill(_ entry: Entry) -> Bool { entry.isLeftBehind }

    func maySend(_ entry: Entry) -> Bool {
        outage.withLock { $0 == nil } && entry.row.map(claims.mayStillSend) ?? false
    }

    func regain(_ entry: Entry) async -> Bool {
        guard let row = entry.row, claims.holds(row) else { return false }
        // The lease is over, or the database is out of reach.
        if !maySend(entry) { _ = try? await call { box, _ throws(QueueError) in try box.requests.renew() } }
        return maySend(entry)
    }

    func begin(_ entry: Entry, at begun: Double) async throws(DatabaseError) {
        let isOwned = try await call { box, _ throws(QueueError) in
            let age = Duration.seconds(max(0, WallClock.Instant.now.sinceEpoch.inSeconds - begun))
            guard let row = entry.row else { return false }
            return try box.requests.begin(row, age: age, key: entry.key)
        }
        guard isOwned else { throw DatabaseError("another run has taken it, since the claim of this one had ended") }
    }

    func note(_ entries: [Entry]) async throws(DatabaseError) -> [Entry] {
        let results = entries.compactMap { entry in entry.row.map { outcome(of: entry, $0) } }
        let areKept = try await call { box, isAgain throws(QueueError) in
            try box.requests.finish(results, mayBeWritten: isAgain)
        }
        return zip(entries, areKept).filter { !$1 }.map { $0.0 }
    }

    private func outcome(of entry: Entry, _ id: Int64) -> SharedRequests.Outcome {
        var members: [(String, JSON)] = [("bytes", .integer(entry.bytes))]
        if let name = entry.name { members.append(("file", .string(name))) }
        if let validator = entry.validator { members.append(("validator", .string(validator))) }
        if let place { members.append(("place", .string(place))) }
        let outcome: RequestQueue.Item.Outcome =
            switch entry.outcome {
            case .pending, .begun: .ready
            case .done, .forgotten: .done
            case .failed, .partial: .failed
            case .unknown: .unknown
            }
        return SharedRequests.Outcome(
            id: id,
            outcome: outcome,
            attempts: entry.attempts,
            status: entry.status,
            error: entry.error,
            detail: JSON.object(members).text,
            hasBegun: entry.begun != nil
        )
    }

    func add(_ sends: [SendCounter.Sends]) async throws(DatabaseError) -> Bool {
        try await call { box, _ throws(QueueError) in
            try box.requests.count(
                sends.compactMap { sends in sends.entry.row.map { ($0, sends.count, sends.claims) } }
            ).allSatisfy(\.self)
        }
    }

    func note(list name: String, isRead: Bool) async throws(DatabaseError) {
        try await call { box, _ throws(QueueError) in try box.requests.note(list: name, isRead: isRead) }
    }

    // Other lists may have the same requests.
    func forgetLeftovers() -> (count: Int, files: [String]) { (0, []) }

    func finish() async throws(DatabaseError) {
        renewal.cancel()
        try await call { box, _ throws(QueueError) in try box.requests.release() }
    }

    func withdraw() {
        renewal.cancel()
        try? access { box throws(QueueError) in try box.requests.release() }
    }

    // MARK: Reading and settling

    /// Whether the lists of the queue were read to their ends; nil: no list is noted.
    func areListsRead() throws(DatabaseError) -> Bool? {
        try access { box throws(QueueError) in try box.requests.areListsRead() }
    }

    /// All requests of the queue.
    func entries() throws(DatabaseError) -> [Entry] {
        try access { box throws(QueueError) in
            try box.requests.all().map { row in
                var entry = entry(row)
                if entry.settled != nil { entry.outcome = .forgotten }
                if entry.outcome == .pending, entry.begun != nil {
                    entry.outcome = entry.key == nil && entry.owner == nil ? .unknown : .begun
                }
                return entry
            }
        }
    }

    /// Settles requests, all of them or, on an error, none.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: ``UsageError`` where an id is unknown, or its request is done or with a run.
    func settle(_ ids: [String], as settlement: Settlement, now: Double) throws(UsageError) -> [Settlement.Settled] {
        let rows: [SharedRequests.Row]
        do throws(DatabaseError) {
            rows = try access { box throws(QueueError) in try box.requests.all() }
        } catch {
            throw UsageError("\(error)")
        }
        let found = Dictionary(rows.map { (entry($0).id, $0) }) { first, _ in first }
        let settled = try settlement.settled(ids, among: found.mapValues(entry), now: now)
        let forgotten = JSON.object([("forgotten", .rounded(now, places: 3))]).text
        var changes: [(row: SharedRequests.Row, settlement: SharedRequests.Settlement)] = []
        for (entry, change) in settled {
            guard let row = found[entry.id] else { continue }
            guard row.owner == nil else {
                let name = "\(entry.id) (\(entry.method) \(Sanitized.text(SanitizedURL.shown(entry.url))))"
                throw UsageError("\(name) is with the run \(row.owner ?? ""); wait for that to end")
            }
            switch change {
            case .again, .newKey: changes.append((row, .again))
            case .none, .sameKey: if entry.isAbandoned { changes.append((row, .againWithKey)) }
            case .forgotten: changes.append((row, .done(detail: forgotten)))
            case .wasForgotten: break
            }
        }
        do throws(DatabaseError) {
            try access { [changes] box throws(QueueError) in try box.requests.settle(changes) }
        } catch {
            throw UsageError("\(error)")
        }
        return settled
    }
}

extension Locked {
    /// The result of a call with the value.
    fileprivate func result<Output>(
        _ body: (inout State) throws(QueueError) -> Output
    ) -> Result<Output, QueueError> {
        withLock { value in
            do throws(QueueError) { return .success(try body(&value)) } catch { return .failure(error) }
        }
    }
}
#endif
