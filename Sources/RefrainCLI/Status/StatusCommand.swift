// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainQueue

/// `refrain status`: shows the state of a list of requests, also while a run is under way.
struct StatusCommand {
    private let entries: [ListEntry]
    private let isJSON: Bool
    /// The state is damaged, and other rows are lost.
    private let damage: DatabaseError?
    /// Whether all lists were read to their ends; nil: it is not known.
    private let areListsRead: Bool?

    init(_ arguments: Arguments) throws(UsageError) {
        guard let operand = arguments.positionals.first else {
            throw UsageError("which run? Give its output folder or its state")
        }
        guard arguments.positionals.count == 1 else {
            throw UsageError("one run at a time; \(Sanitized.text(arguments.positionals[1])) is one too many")
        }
        isJSON = arguments.has(.json)
        if let shared = try SharedStateLocation(operand, arguments) {
            (areListsRead, entries) = try Self.read(shared)
            damage = nil
            return
        }
        let isFolder = Directory.kind(of: operand) == .folder
        let path = try Self.path(ofState: operand)
        do throws(DatabaseError) {
            let contents = try StateFile.read(path)
            (areListsRead, damage) = (contents.areListsRead, contents.damage)
            entries = contents.entries.map { isFolder ? Self.withPartialFile($0, in: operand) : $0 }
        } catch {
            throw UsageError("\(Sanitized.text(operand)): \(error)")
        }
    }

    private static func read(_ location: SharedStateLocation) throws(UsageError) -> (Bool?, [ListEntry]) {
        #if PostgreSQL
        let store = try store(at: location)
        do throws(QueueError) {
            // First, since a run may be reading its list.
            let areListsRead = try store.areListsRead()
            return (areListsRead, try store.all().map { ListEntry($0).shown })
        } catch {
            throw UsageError("\(error)")
        }
        #else
        return (nil, [])
        #endif
    }

    #if PostgreSQL
    /// Connects to the database of a state, and writes nothing there.
    ///
    /// - Throws: ``UsageError`` where no run has used it: a mistyped name must not be taken for an empty list.
    static func store(at location: SharedStateLocation) throws(UsageError) -> sending RequestList.SharedStore {
        do throws(QueueError) {
            return try RequestList.SharedStore(
                location.url,
                name: location.queue,
                lease: location.lease,
                makesQueue: false
            )
        } catch {
            guard error.code == .noSuchItem else { throw UsageError("\(error)") }
            let queue = Sanitized.text(location.queue)
            throw UsageError("\(location.shown): no run has used the queue \(queue)")
        }
    }
    #endif

    /// The file of a state, which is named by itself or by its output folder.
    static func path(ofState operand: String) throws(UsageError) -> String {
        let isFolder = Directory.kind(of: operand) == .folder
        let path = isFolder ? Directory.path(operand, Directory.stateName) : operand
        guard Directory.kind(of: path) == .file else {
            throw UsageError("\(Sanitized.text(operand)): there is no state of a run")
        }
        // Its lock is beside the file itself.
        return (try? Directory.withoutLinks(path)) ?? path
    }

    /// A request with the bytes that its partial file holds now; its row is written only when it has ended.
    private static func withPartialFile(_ entry: ListEntry, in folder: String) -> ListEntry {
        guard [.pending, .partial, .failed].contains(entry.outcome), let name = entry.name,
            let size = PartialNames(Directory.path(folder, name)).size, size > 0
        else { return entry }
        var entry = entry
        (entry.outcome, entry.bytes) = (.partial, size)
        return entry
    }

    /// Writes the state; success where everything is done.
    func run(to output: Output) throws -> ExitStatus {
        let isCut = areListsRead == false || (entries.isEmpty && areListsRead == nil)
        if isCut, isJSON { Output.error.show("refrain status: the list was not read to its end\n") }
        let text = isJSON ? entries.flatMap { Self.json($0).line } : Array(Self.text(entries, isCut: isCut).utf8)
        try output.write(text)
        if let damage { Output.error.show("refrain status: \(damage); other requests cannot be read\n") }
        return entries.allSatisfy { Self.isSettled($0) } && !isCut && damage == nil ? .success : .failure
    }

    /// Whether no run sends a request any more.
    private static func isSettled(_ entry: ListEntry) -> Bool { [.done, .forgotten].contains(entry.outcome) }

    /// The counts, and the requests that are not done.
    ///
    /// - Parameter isCut: whether a run has ended before its list was read to the end, or is still reading it.
    static func text(_ entries: [ListEntry], isCut: Bool = false) -> String {
        var counts: [String] = []
        for outcome in [ListEntry.Outcome.done, .forgotten, .partial, .failed, .unknown, .begun, .pending] {
            let count = entries.count { $0.outcome == outcome }
            if count > 0 || outcome == .done { counts.append("\(count) \(outcome.rawValue)") }
        }
        let bytes = entries.reduce(Int64(0)) { $0.addingReportingOverflow($1.bytes).partialValue }
        let attempts = entries.reduce(0) { $0.addingReportingOverflow($1.attempts).partialValue }
        var text = isCut ? "at least " : ""
        text += "\(entries.count) requests: \(counts.joined(separator: ", ")); \(SizeText.short(bytes)) in "
        text += "\(attempts) attempts\n"
        if isCut { text += "the list was not read to its end\n" }
        // What needs a decision first: of a long list that was interrupted, most lines are of requests not made yet.
        let order: [ListEntry.Outcome] = [.failed, .unknown, .begun, .partial, .pending]
        let shown = order.map { outcome in entries.filter { $0.outcome == outcome } }
        let pending = shown.last?.count ?? 0
        for entry in shown.dropLast().joined() + (shown.last ?? []).prefix(Self.shownPending) {
            var words = [entry.outcome.rawValue, entry.method, SanitizedURL.shown(entry.url)]
            if let status = entry.status { words.append("status \(status)") }
            if let error = entry.error { words.append(error) }
            if entry.outcome == .partial { words.append(SizeText.short(entry.bytes)) }
            if let owner = entry.owner { words.append("with \(owner)") }
            text += "  " + Sanitized.line(words.joined(separator: "  ")) + "  id \(entry.id)\n"
        }
        if entries.contains(where: { [.unknown, .begun].contains($0.outcome) }) {
            text += "the server may have done what is begun or unknown; refrain retry STATE ID sends it again, "
            text += "refrain forget STATE ID does not\n"
        }
        if entries.contains(where: \.isAbandoned) {
            text += "what is abandoned is not sent by itself; refrain retry STATE ID sends it again\n"
        }
        if pending > Self.shownPending {
            text += "  … and \(pending - Self.shownPending) more pending; --json lists all\n"
        }
        return text
    }

    /// The number of pending requests that are listed.
    private static let shownPending = 10

    private static func json(_ entry: ListEntry) -> JSON {
        .object([
            ("id", .string(entry.id)), ("url", .string(entry.url)), ("method", .string(entry.method)),
            ("outcome", .string(entry.outcome.rawValue)),
            ("status", .optional(entry.status) { .integer(Int64($0)) }),
            ("file", .optional(entry.name) { .string($0) }), ("bytes", .integer(entry.bytes)),
            ("attempts", .integer(Int64(entry.attempts))), ("validator", .optional(entry.validator) { .string($0) }),
            ("key", .optional(entry.key) { .string($0) }), ("error", .optional(entry.error) { .string($0) }),
            ("begun", date(entry.begun)), ("ended", date(entry.ended)),
            ("settled", date(entry.settled)), ("owner", .optional(entry.owner) { .string($0) }),
        ])
    }

    private static func date(_ seconds: Double?) -> JSON {
        .optional(seconds) { .string("\(WallClock.Instant(sinceEpoch: .seconds($0)))") }
    }
}
