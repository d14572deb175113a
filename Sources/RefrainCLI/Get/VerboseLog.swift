// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// What `-v` shows of a request, in the form of curl's: `*` facts of the connection and attempts, `>` the request as it
/// was sent, `<` the heads of the responses; without passwords and tokens.
final class VerboseLog: Sendable {
    private let screen: StatusLine
    /// Whether lines are collected until the attempt ends, so that those of several requests are not mixed.
    private let collects: Bool
    private let collected = Locked("")

    init(_ screen: StatusLine, collects: Bool) {
        self.screen = screen
        self.collects = collects
    }

    /// Observes a request.
    func observe(_ request: inout HTTPRequest) {
        request.wireObserver = { [self] event in show(Self.text(event)) }
        let inner = request.attemptObserver
        request.attemptObserver = { [self] record in
            show(Self.text(record))
            flush()
            inner?(record)
        }
    }

    /// Writes what was collected.
    func flush() {
        let text = collected.withLock { text in
            defer { text = "" }
            return text
        }
        screen.say(text)
    }

    private func show(_ text: String) {
        guard collects else { return screen.say(text) }
        collected.withLock { $0 += text }
    }

    /// The lines of an event.
    static func text(_ event: WireEvent) -> String {
        switch event {
        // Some versions of libcurl quote the URL of a proxy with its password.
        case .note(let text): lines(SanitizedURL.withoutPassword(text), "* ", inBrackets: true)
        case .requestHead(let bytes): lines(String(decoding: bytes, as: UTF8.self), "> ")
        case .responseHead(let bytes): lines(String(decoding: bytes, as: UTF8.self), "< ")
        }
    }

    private static func text(_ record: AttemptRecord) -> String {
        let outcome =
            record.status.map { "\($0) \(ResponseHead.reason(of: $0))" } ?? record.error.map(FailureWords.text)
            ?? "no outcome"
        var text = "* Attempt \(record.number): \(outcome) in \(DurationText.short(record.duration))"
        if record.decision == .retry {
            text += record.reason == .redirected ? ", redirected" : ", again after \(DurationText.short(record.delay))"
        }
        if record.reason != .succeeded, record.reason != .redirected { text += " (\(record.reason.rawValue))" }
        return Sanitized.line(text) + "\n"
    }

    private static func lines(_ text: String, _ mark: String, inBrackets: Bool = false) -> String {
        var lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map { Sanitized.line(mark + blanked($0, inBrackets: inBrackets)) + "\n" }.joined()
    }

    /// A line of a head without the value of a field that is a secret.
    ///
    /// - Parameter inBrackets: whether fields stand in brackets, as libcurl logs those of HTTP/2.
    private static func blanked(_ line: Substring, inBrackets: Bool) -> String {
        if inBrackets {
            guard let bracket = line.lastIndex(of: "["), line.hasSuffix("]") else { return String(line) }
            let field = line[line.index(after: bracket)...].dropLast()
            return line[...bracket] + blanked(field, inBrackets: false) + "]"
        }
        guard let colon = line.firstIndex(of: ":"), HTTPHeaders.isValidName(String(line[..<colon])) else {
            // The first line, or a field of HTTP/2 such as `:path`.
            return URLText.withoutSecretParameters(String(line))
        }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        let field = HTTPHeaders.Field(name: String(line[..<colon]), value: String(value))
        let shown = SecretFields.shown(field)
        return shown == value ? String(line) : "\(line[..<colon]): \(shown)"
    }
}
