// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainQueue

/// Where a run keeps what becomes of its requests: a file of its own, or a database that it shares with other runs.
///
/// What is asynchronous may last while a database is out of reach for a moment.
protocol RunState: Sendable {
    typealias Entry = TransferState.Entry

    /// Whether a run that may have sent a request was killed.
    func followsKill(_ entry: Entry) -> Bool
    /// Writes the rows that are missing, and returns those that were there before.
    ///
    /// - Parameters:
    ///   - isDurable: whether the rows are on the disk when this returns; keys must be.
    ///   - isAbsent: whether the file of the entry at an index is missing, so that it may take a failed one's name.
    /// - Returns: for each entry the row, or nil where its file belongs to another request.
    func register(_ entries: [Entry], isDurable: Bool, isAbsent: (Int) -> Bool) async throws(DatabaseError) -> [Entry?]
    /// Takes requests that this run is to send or to change; false for each that another run has taken meanwhile.
    func claim(_ entries: [Entry]) async throws(DatabaseError) -> [Bool]
    /// Whether a request that was claimed may be sent now.
    func maySend(_ entry: Entry) -> Bool
    /// Whether one that may not be sent now may be so again, since no other run has taken it.
    func regain(_ entry: Entry) async -> Bool
    /// Notes that a request is about to be sent, with its key, and counts the send; all are on the disk when this
    /// returns.
    ///
    /// - Parameter begun: when it was first sent, in seconds since 1970.
    func begin(_ entry: Entry, at begun: Double) async throws(DatabaseError)
    /// Writes outcomes; the attempts are added to those of earlier runs.
    ///
    /// - Returns: those that are not written, since another run has taken the requests.
    func note(_ entries: [Entry]) async throws(DatabaseError) -> [Entry]
    /// Adds sends of requests that are under way to the attempts of their rows; false if another run has taken one.
    func add(_ sends: [SendCounter.Sends]) async throws(DatabaseError) -> Bool
    /// Notes whether all requests of a list are in the state.
    func note(list name: String, isRead: Bool) async throws(DatabaseError)
    /// Removes the unfinished requests of earlier runs of the list that are not in it any more.
    ///
    /// - Returns: their number, and the files that they alone would have written, relative to the output folder.
    func forgetLeftovers() throws(DatabaseError) -> (count: Int, files: [String])
    /// Ends the use of the state by this run.
    func finish() async throws(DatabaseError)
    /// Removes a state that did not exist before.
    func withdraw()
}

extension RunState {
    // What a run has alone is its own.
    func claim(_ entries: [Entry]) -> [Bool] { entries.map { _ in true } }
    func maySend(_ entry: Entry) -> Bool { true }
    func regain(_ entry: Entry) -> Bool { true }
}

extension TransferState: RunState {}

/// The place of a state that several machines share: `postgres://…`.
struct SharedStateLocation: Sendable {
    /// The URL, which may have a password.
    let url: String
    /// The name of the queue that the requests are kept in.
    let queue: String
    /// How long a claim lasts that its run does not renew.
    let lease: Duration

    /// Whether the operand of `--state`, `status`, `retry` or `forget` is a database.
    static func isDatabase(_ text: String) -> Bool {
        ["postgres://", "postgresql://"].contains { text.lowercased().hasPrefix($0) }
    }

    /// Reads a place; nil: the text is none.
    ///
    /// - Throws: ``UsageError`` where `--queue` has no effect, or this program cannot use a database.
    init?(_ text: String?, _ arguments: Arguments) throws(UsageError) {
        let name = arguments.last(.queue)
        guard let text, Self.isDatabase(text) else {
            for option in [OptionName.queue, .lease] where arguments.has(option) {
                throw UsageError("--\(option.rawValue) is for a state in a database, such as postgres://HOST/NAME")
            }
            return nil
        }
        guard name?.isEmpty != true, (name ?? "").utf8.count <= 900, !(name ?? "").utf8.contains(0) else {
            throw UsageError("--queue: the name has no text, or is too long")
        }
        let lease = try arguments.duration(.lease) ?? .seconds(30)
        guard (.seconds(1) ... .seconds(86_400)).contains(lease) else {
            throw .badValue(arguments.last(.lease) ?? "", of: "--lease", "is not a time from 1s to 1d")
        }
        (url, queue, self.lease) = (text, name ?? "default", lease)
        #if !PostgreSQL
        throw UsageError(
            "\(SanitizedURL.text(text)): this refrain was built without PostgreSQL; the Debian package has it, and so has "
                + "what swift build --traits PostgreSQL makes"
        )
        #endif
    }

    /// The place for messages, without the password.
    var shown: String { Sanitized.text(SanitizedURL.text(url)) }

    /// The words that name the place on a command line, with the user and without passwords.
    var words: String {
        var text = SanitizedURL.text(url)
        if let user = SanitizedURL.user(of: url), let slashes = text.firstRange(of: "://") {
            text.insert(contentsOf: "\(user)@", at: slashes.upperBound)
        }
        if let mark = text.firstIndex(of: "?") {
            let parameters = text[mark...].dropFirst().split(separator: "&").filter { !Self.isSecret($0) }
            text = text[..<mark] + (parameters.isEmpty ? "" : "?") + parameters.joined(separator: "&")
        }
        let place = ShellText.quoted(text)
        return queue == "default" ? place : "\(place) --queue \(ShellText.quoted(queue))"
    }

    /// Whether libpq takes a parameter for a secret; one whose name has escapes may be any.
    private static func isSecret(_ parameter: Substring) -> Bool {
        let name = parameter.prefix { $0 != "=" }
        return ["%", "password", "secret", "_key"].contains { name.contains($0) }
    }
}
