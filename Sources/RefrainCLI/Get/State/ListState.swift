// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainQueue

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// What becomes of the requests of a list, kept between runs: in a file, or in a database for several machines.
///
/// A row is written before its request is sent, and again when it has ended, in transactions. So after a crash a
/// finished request may be sent again, but no unfinished one counts as done. Results of small files are written some at
/// a time, within a fraction of a second (see ``RunPlan``). An idempotency key is on the disk before the first request
/// that carries it.
///
/// A run claims what it is about to send. What another run has claimed waits, until that one has written a result or
/// its claim has ended: then it is done, or claimed here.
///
/// While a database is out of reach, for a minute, a run sends nothing and makes its calls again. What it had claimed
/// is still its own afterwards unless another run has taken it, which the token tells.
final class ListState: Sendable {
    fileprivate struct Box: @unchecked Sendable {
        // @unchecked Sendable: used only with the lock held.
        let store: any RequestList.Store
    }

    private let box: Locked<Box>
    /// Where the calls of a run wait for a database; nil: they are those to a file, which are short.
    private let thread: RequestList.CallThread?
    /// Since when the state has been out of reach; nil: it is not, as far as the last call tells.
    private let outage = Locked<ContinuousClock.Instant?>(nil)
    /// For how long that is borne.
    private let patience: Duration
    private let say: @Sendable (String) -> Void
    private let claims: RequestList.Claims
    private let nameLimit: Int?
    private let renewal: RequestList.Renewal?
    /// The file; nil: it is in a database.
    private let file: StateFile?
    /// This machine and its output folder, where the files of its requests are; nil without a folder.
    private let place: String?

    /// Opens the file of a state, and makes it where it is missing.
    ///
    /// - Parameters:
    ///   - list: the list that its requests are from; nil: they belong to no list that can be read again.
    ///   - say: tells the user that a run waits for the file.
    /// - Throws: ``UsageError`` where another run uses it, or it is not a state of this program.
    convenience init(
        path: String,
        option: String,
        list: String? = nil,
        say: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(UsageError) {
        let (file, store) = try StateFile.open(path, option: option, list: list)
        self.init(store, file: file, place: nil, patience: .seconds(60), say: say)
    }

    #if PostgreSQL
    /// Connects to the database of a state.
    ///
    /// - Parameters:
    ///   - folder: the folder of the files, if there is one.
    ///   - patience: how long a run waits for a database that is out of reach.
    ///   - say: tells the user that it does so.
    convenience init(
        _ location: SharedStateLocation,
        folder: String? = nil,
        patience: Duration = .seconds(60),
        say: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(UsageError) {
        let store: RequestList.SharedStore
        do throws(QueueError) {
            store = try RequestList.SharedStore(location.url, name: location.queue, lease: location.lease)
        } catch {
            throw UsageError("\(error)", isOutage: [.cannotOpen, .disconnected, .busy].contains(error.code))
        }
        let place = folder.map { "\(Self.hostName):\(Directory.identity(of: $0))" }
        self.init(store, file: nil, place: place, patience: patience, say: say)
    }

    /// Takes a database that was opened to settle requests of runs.
    convenience init(_ store: sending RequestList.SharedStore) {
        self.init(store, file: nil, place: nil, patience: .zero) { _ in }
    }

    private static let hostName: String = {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
    #endif

    private init(
        _ store: sending any RequestList.Store,
        file: StateFile?,
        place: String?,
        patience: Duration,
        say: @escaping @Sendable (String) -> Void
    ) {
        (self.file, self.place, self.patience, self.say) = (file, place, patience, say)
        thread = file == nil ? RequestList.CallThread() : nil
        (claims, nameLimit) = (store.claims, store.nameLimit)
        let interval = store.renewalInterval
        let box = Locked(Box(store: store))
        self.box = box
        // A failure is told by the writes, and by what is not sent once the lease is over.
        renewal = interval.map { RequestList.Renewal(every: $0) { box.withLock { try? $0.store.renew() } } }
    }

    /// Reads or changes the state at once, or fails.
    private func access<Value>(
        _ body: (any RequestList.Store) throws(QueueError) -> Value
    ) throws(DatabaseError) -> Value {
        do throws(QueueError) {
            return try box.result(body).get()
        } catch {
            throw DatabaseError("\(error)")
        }
    }

    // MARK: The run

    /// Makes a call of a run; while the state is out of reach, makes it again.
    ///
    /// - Parameter body: is told whether it was called before, so that its writes may have been made.
    private func call<Value: Sendable>(
        _ body: @escaping @Sendable (any RequestList.Store, _ isAgain: Bool) throws(QueueError) -> Value
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
        _ body: @escaping @Sendable (any RequestList.Store, _ isAgain: Bool) throws(QueueError) -> Value,
        isAgain: Bool
    ) async -> Result<Value, QueueError> {
        let call = { @Sendable [box] in box.result { store throws(QueueError) in try body(store, isAgain) } }
        let result = if let thread { await thread.run(call) } else { call() }
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
            let what = file == nil ? "PostgreSQL is out of reach" : "the file of the state is locked"
            say("\(what), so that nothing is sent; trying for up to \(time) to reach it: \(error)")
        }
        return now - began < patience
    }

    /// Writes the rows that are missing, and returns what is known of each request.
    ///
    /// A file belongs to the request that has brought it or a part of it, and to a request of this run. The name of one
    /// that has failed in an earlier run is free, and so is that of a download of the same object by other fields.
    ///
    /// - Parameters:
    ///   - requests: with identities as their names.
    ///   - isDurable: whether the rows are on the disk when this returns; keys must be.
    ///   - isAbsent: whether the file of the request at an index is missing, so that it may take a failed one's name.
    /// - Returns: nil where the file belongs to another request.
    func register(
        _ requests: [RequestList.New],
        isDurable: Bool,
        isAbsent: @escaping @Sendable (Int) -> Bool = { _ in false }
    ) async throws(DatabaseError) -> [ListEntry?] {
        let new = fitted(requests)
        return try await call { [self] store, _ throws(QueueError) in
            let rows = try store.register(new, isDurable: isDurable) { row, index in
                let owner = ListEntry(row)
                if isAbsent(index), [.pending, .failed].contains(owner.outcome) { return .file }
                let (method, url) = (requests[index].method, requests[index].url)
                let isSame =
                    owner.method == method && HTTPMethod(rawValue: method).isSafe
                    && SignedURL.areOfOneObject(SanitizedURL.canonical(owner.url), SanitizedURL.canonical(url))
                return isSame ? .row : .nothing
            }
            return rows.indices.map { index in
                guard let row = rows[index] else { return nil }
                var entry = ListEntry(requests[index], row)
                entry.isElsewhere =
                    switch row.outcome {
                    case .done: file == nil && (place == nil || row.place != place)
                    case .failed: row.isRecent
                    default: false
                    }
                return entry
            }
        }
    }

    /// Requests with names and targets as the store has them.
    private func fitted(_ requests: [RequestList.New]) -> [RequestList.New] {
        let foldsNames = file?.foldsNames ?? true
        guard foldsNames || nameLimit != nil else { return requests }
        var fitted = requests
        for index in fitted.indices {
            fitted[index].name = name(of: requests[index].name)
            if foldsNames { fitted[index].target = requests[index].target.map(OutputNaming.folded) }
        }
        return fitted
    }

    /// The name of the row of a request: its identity, shortened where an index of the store has no room for it.
    private func name(of identity: String) -> String {
        guard let nameLimit, identity.utf8.count > nameLimit else { return identity }
        return "\(identity.prefix(200)) \(ContentDigest.sha256(of: Array(identity.utf8)))"
    }

    /// Takes requests that this run is to send or to change; false for each that another run has taken meanwhile.
    func claim(_ entries: [ListEntry]) async throws(DatabaseError) -> [Bool] {
        guard !entries.isEmpty else { return [] }
        return try await call { store, _ throws(QueueError) in try store.claim(entries.compactMap(\.row)) }
    }

    /// Whether a request that was claimed may be sent now.
    func maySend(_ entry: ListEntry) -> Bool {
        outage.withLock { $0 == nil } && entry.row.map { claims.mayStillSend($0.id) } ?? false
    }

    /// Whether one that may not be sent now may be so again, since no other run has taken it.
    func regain(_ entry: ListEntry) async -> Bool {
        guard let row = entry.row, claims.holds(row.id) else { return false }
        // The lease is over, or the database is out of reach.
        if !maySend(entry) { _ = try? await call { store, _ throws(QueueError) in try store.renew() } }
        return maySend(entry)
    }

    /// Notes that a request is about to be sent, with its key, and counts the send; all are on the disk when this
    /// returns.
    ///
    /// Until its outcome is noted it is unknown whether the server has done it.
    ///
    /// - Parameter begun: when it was first sent, in seconds since 1970.
    func begin(_ entry: ListEntry, at begun: Double) async throws(DatabaseError) {
        let isOwned = try await call { store, _ throws(QueueError) in
            let age = Duration.seconds(max(0, WallClock.Instant.now.sinceEpoch.inSeconds - begun))
            guard let row = entry.row else { return false }
            return try store.begin(row.id, age: age, key: entry.key)
        }
        guard isOwned else { throw DatabaseError("another run has taken it, since the claim of this one had ended") }
    }

    /// Writes outcomes; the attempts are added to those of earlier runs.
    ///
    /// - Returns: those that are not written, since another run has taken the requests.
    @discardableResult
    func note(_ entries: [ListEntry]) async throws(DatabaseError) -> [ListEntry] {
        let known = entries.filter { $0.row != nil }
        let results = known.compactMap { entry in entry.row.map { result(of: entry, $0.id) } }
        let areKept = try await call { store, isAgain throws(QueueError) in
            try store.finish(results, mayBeWritten: isAgain)
        }
        return zip(known, areKept).filter { !$1 }.map { $0.0 }
    }

    private func result(of entry: ListEntry, _ id: Int64) -> RequestList.Result {
        let outcome: RequestQueue.Item.Outcome =
            switch entry.outcome {
            case .pending, .begun: .ready
            case .done, .forgotten: .done
            case .failed, .partial: .failed
            case .unknown: .unknown
            }
        var result = RequestList.Result(
            id: id,
            outcome: outcome,
            attempts: entry.attempts,
            hasBegun: entry.begun != nil
        )
        (result.isPartial, result.status, result.error) = (entry.outcome == .partial, entry.status, entry.error)
        (result.file, result.bytes, result.validator) = (entry.name, entry.bytes, entry.validator)
        result.place = place
        return result
    }

    /// Adds sends of requests that are under way to the attempts of their rows; false if another run has taken one.
    @discardableResult
    func add(_ sends: [SendCounter.Sends]) async throws(DatabaseError) -> Bool {
        try await call { store, _ throws(QueueError) in
            try store.count(
                sends.compactMap { sends in sends.entry.row.map { ($0.id, sends.count, sends.claims) } }
            ).allSatisfy(\.self)
        }
    }

    /// Notes whether all requests of a list are in the state.
    ///
    /// - Parameter name: what the list is called; empty: it is the command line.
    func note(list name: String, isRead: Bool) async throws(DatabaseError) {
        try await call { store, _ throws(QueueError) in try store.note(list: name, isRead: isRead) }
    }

    /// Removes the unfinished requests of earlier runs of the list of this run that are not in it any more.
    ///
    /// To be called when all requests of the list are registered. A request with a stored key stays.
    ///
    /// - Returns: the number of removed requests, and the files that they alone would have written, relative to the
    ///   output folder.
    func forgetLeftovers() async throws(DatabaseError) -> (count: Int, files: [String]) {
        try await call { store, _ throws(QueueError) in try store.forgetLeftovers() }
    }

    /// Ends the use of the state by this run.
    func finish() async throws(DatabaseError) {
        renewal?.cancel()
        try await call { store, _ throws(QueueError) in try store.release() }
    }

    /// Removes a state that did not exist before; gives back what was claimed in another one.
    func withdraw() {
        renewal?.cancel()
        try? access { store throws(QueueError) in try store.release() }
        file?.removeIfNew()
    }

    // MARK: Settling

    /// Settles requests, all of them or, on an error, none.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: the requests in the order of `ids`.
    /// - Throws: ``UsageError`` where an id is unknown, or its request is done or with a run.
    func settle(_ ids: [String], as settlement: Settlement, now: Double) throws(UsageError) -> [Settlement.Settled] {
        let rows: [RequestList.Row]
        do throws(DatabaseError) {
            rows = try access { store throws(QueueError) in try store.all() }
        } catch {
            throw UsageError("\(error)")
        }
        let (settled, changes) = try settled(ids, settlement, among: rows, now: now)
        do throws(DatabaseError) {
            try access { store throws(QueueError) in try store.settle(changes) }
        } catch {
            throw UsageError("\(error)")
        }
        return settled
    }

    private typealias Changes = [(row: RequestList.Row, settlement: RequestList.Settlement)]

    /// Decides about requests, and what is to be changed in the state.
    private func settled(
        _ ids: [String],
        _ settlement: Settlement,
        among rows: [RequestList.Row],
        now: Double
    ) throws(UsageError) -> (settled: [Settlement.Settled], changes: Changes) {
        let found = Dictionary(rows.map { (ListEntry($0).id, $0) }) { first, _ in first }
        let settled = try settlement.settled(ids, among: found.mapValues { ListEntry($0) }, now: now)
        var changes: Changes = []
        for (entry, change) in settled {
            guard let row = found[entry.id] else { continue }
            guard row.owner == nil else {
                let name = "\(entry.id) (\(entry.method) \(Sanitized.text(SanitizedURL.shown(entry.url))))"
                throw UsageError("\(name) is with another run (\(row.owner ?? "")); wait for that to end")
            }
            switch change {
            case .again, .newKey: changes.append((row, .again))
            case .none, .sameKey: if entry.isAbandoned { changes.append((row, .againWithKey)) }
            case .forgotten: changes.append((row, .forgotten))
            case .wasForgotten: break
            }
        }
        return (settled, changes)
    }
}

extension Locked where State == ListState.Box {
    /// The result of a call with the store.
    fileprivate func result<Output>(
        _ body: (any RequestList.Store) throws(QueueError) -> Output
    ) -> Result<Output, QueueError> {
        withLock { box in
            do throws(QueueError) { return .success(try body(box.store)) } catch { return .failure(error) }
        }
    }
}
