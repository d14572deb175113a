// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The operand of `refrain explain`: a status, a failure in the words of any program, or a line of a report.
enum ExplainSubject {
    case status(HTTPStatus)
    case failure(HTTPError.Code)
    case record(ReportRecord)

    /// Reads the operands, which are one text.
    init(_ words: [String]) throws(UsageError) {
        let text = words.joined(separator: " ")
        if text == "-" {
            let bytes = try Input.contents("-", "explain -")
            guard let line = bytes.split(separator: UInt8(ascii: "\n")).last else {
                throw UsageError("standard input has no line")
            }
            self = .record(try ReportRecord(Array(line)))
        } else if text.drop(while: \.isWhitespace).hasPrefix("{") {
            self = .record(try ReportRecord(Array(text.utf8)))
        } else if let status = Self.status(text) {
            self = .status(status)
        } else if let code = FailureWords.code(text) {
            self = .failure(code)
        } else {
            let words = FailureWords.known.flatMap(\.words).filter { $0.first?.isNumber == false }
            let known = HTTPError.Code.allCases.map(\.rawValue) + words
            var meant = SuggestionFinder.nearest(to: text, among: known).map { "; did you mean \($0)?" }
            if text == "22" { meant = "; curl's 22 stands for any status of 400 or more: give the status, such as 503" }
            if Directory.kind(of: text) == .file {
                meant = "; of a file give one line: tail -n 1 \(ShellText.quoted(text)) | refrain explain -"
            }
            throw UsageError(
                "\(Sanitized.text(text)) is neither a status, nor a known failure, nor a line of --report"
                    + (meant ?? "; refrain help explain lists the failures")
            )
        }
    }
}

extension ExplainSubject {
    /// A status as a number, also with its phrase as the command prints it: `503 Service Unavailable`.
    private static func status(_ text: String) -> HTTPStatus? {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard let number = ASCIINumber.whole(parts.first.map(String.init) ?? ""), ExplainLimits.status.contains(number)
        else { return nil }
        let status = HTTPStatus(rawValue: number)
        guard parts.count > 1 else { return status }
        return status.message.lowercased() == parts[1].lowercased() ? status : nil
    }
}

/// A line of `--report`: a request with its attempts.
struct ReportRecord {
    /// One of its attempts.
    struct Line {
        let number: Int
        let outcome: RetryContext.Outcome
        let start: Duration
        let duration: Duration
        let bytesSent: Int64?
        let decision: String
        let reason: String
        let delay: Duration
        /// What held it back before it was sent, or nil.
        let pacing: AttemptRecord.Pacing?
    }

    let method: String
    let attempts: [Line]
    /// The fields of the last response.
    private let headers: HTTPHeaders
    let hasIdempotencyKey: Bool

    init(_ line: [UInt8]) throws(UsageError) {
        let node: JSONNode
        do throws(JSONNode.Failure) {
            node = try JSONNode.parse(line)
        } catch {
            throw UsageError("the line of the report is not valid JSON: \(error)")
        }
        guard let method = node["method"]?.text, case .array(let attempts) = node["attempts"]?.value else {
            throw UsageError(
                "the line lacks \"method\" and \"attempts\"; it must be a line of refrain get --report FILE"
            )
        }
        self.method = method
        headers = Self.fields(node["headers"])
        hasIdempotencyKey = Self.fields(node["request_headers"]).contains("Idempotency-Key")
        self.attempts = attempts.compactMap(Self.attempt)
        guard HTTPMethod(rawValue: method).isValid else {
            throw UsageError("the line has the method \(Sanitized.text(method)), which is not one")
        }
        guard !attempts.isEmpty else { throw UsageError("the line has no attempt: nothing was sent") }
        guard !self.attempts.isEmpty else {
            throw UsageError("no attempt of the line has a status or a failure that this version of refrain knows")
        }
    }

    /// The attempt with a number; the last one without.
    func attempt(_ number: Int?) throws(UsageError) -> Line {
        guard let number else { return attempts[attempts.count - 1] }
        guard let attempt = attempts.first(where: { $0.number == number }) else {
            throw UsageError("--attempt \(number): the line has the attempts 1 to \(attempts.count)")
        }
        return attempt
    }

    /// The context that the decision on an attempt was made in, as far as the line has it.
    func context(_ attempt: Line, now: WallClock.Instant) -> RetryContext {
        var context = RetryContext(method: HTTPMethod(rawValue: method), outcome: attempt.outcome, now: now)
        context.bytesSent = attempt.bytesSent
        context.hasIdempotencyKey = hasIdempotencyKey
        context.body = HTTPMethod(rawValue: method).isSafe ? .none : .replayable
        // Only those of the last response are in the report.
        if attempt.number == attempts.last?.number { context.headers = headers }
        let firstEnd = attempts.first.map { $0.start + $0.duration } ?? .zero
        context.failingFor = max(.zero, attempt.start + attempt.duration - firstEnd)
        context.attempt = Attempt(number: attempt.number, remaining: nil)
        return context
    }

    private static func attempt(_ node: JSONNode) -> Line? {
        func number(_ name: String) -> Double? {
            if case .number(let number)? = node[name]?.value, number.magnitude < 1e15 { return number }
            return nil
        }
        let outcome: RetryContext.Outcome
        if let error = node["error"]?.text, let code = HTTPError.Code(rawValue: error) {
            outcome = .failure(code)
        } else if let status = number("status").map(Int.init), ExplainLimits.status.contains(status) {
            outcome = .status(HTTPStatus(rawValue: status))
        } else {
            return nil
        }
        return Line(
            number: Int(number("number") ?? 1),
            outcome: outcome,
            start: .milliseconds(number("start_ms") ?? 0),
            duration: .milliseconds(number("duration_ms") ?? 0),
            bytesSent: number("bytes_sent").map { Int64($0) },
            decision: node["decision"]?.text ?? "",
            reason: node["reason"]?.text ?? "",
            delay: .milliseconds(number("delay_ms") ?? 0),
            pacing: PacingText.pacing(of: node)
        )
    }

    private static func fields(_ node: JSONNode?) -> HTTPHeaders {
        var headers = HTTPHeaders()
        guard case .array(let fields)? = node?.value else { return headers }
        for field in fields {
            if case .array(let pair) = field.value, pair.count == 2, let name = pair[0].text, let value = pair[1].text {
                headers.add(name, value)
            }
        }
        return headers
    }
}
