// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// `refrain explain`: prints the decision of the policy, without sending anything.
struct ExplainCommand {
    private let arguments: Arguments

    init(_ arguments: Arguments) throws(UsageError) {
        self.arguments = arguments
        if !arguments.positionals.isEmpty {
            for name in [OptionName.status, .error, .batch, .schedule] where arguments.has(name) {
                throw UsageError(
                    "\(Sanitized.text(arguments.positionals[0])) is one too many beside --\(name.rawValue)"
                )
            }
        }
        if arguments.has(.batch), arguments.has(.schedule) {
            throw UsageError("--batch and --schedule exclude each other")
        }
        if arguments.has(.batch) {
            try refuse("--batch takes that from its lines", but: [.batch, .json])
        } else if arguments.has(.schedule) {
            let policy = CommandSpec.Group.schedule + CommandSpec.Group.answers
            try refuse("--schedule draws what holds for all requests", but: [.schedule, .policy] + policy.map(\.name))
        }
    }

    /// Refuses options without effect, because ignoring one would answer another question.
    private func refuse(_ reason: String, but known: [OptionName]) throws(UsageError) {
        let odd = CommandSpec.explain.options.first { arguments.has($0.name) && !known.contains($0.name) }
        guard let odd else { return }
        throw UsageError("--\(odd.name.rawValue) has no effect here; \(reason)")
    }

    /// Answers on an output.
    func run(to output: Output) throws {
        if let path = arguments.last(.batch) {
            let input: Input
            do {
                input = try Input(path: path)
            } catch {
                throw UsageError("--batch: \(error)")
            }
            try Batch().run(input, to: output)
        } else if arguments.has(.schedule) {
            let chart =
                if asksForCommand {
                    try PolicyText.commandPolicy(arguments).chart
                } else {
                    ScheduleChart(try PolicyText.policy(arguments).schedule)
                }
            try output.write(Array(chart.text.utf8))
        } else {
            let question = try question()
            let text =
                arguments.has(.json)
                ? question.answer.json.text + "\n" : ExplainText(question).text
            try output.write(Array(text.utf8))
        }
    }

    /// Whether the question is what `refrain get` would do, rather than a policy of the library.
    private var asksForCommand: Bool {
        ![.policy, .overloadBackoff, .budget, .history, .every].contains(where: arguments.has)
    }

    /// The question that the options ask.
    func question() throws(UsageError) -> ExplainQuestion {
        var subject: ExplainSubject?
        if !arguments.positionals.isEmpty { subject = try ExplainSubject(arguments.positionals) }
        if case .record(let record) = subject { return try question(about: record) }
        let method = HTTPMethod(rawValue: arguments.last(.method) ?? "GET")
        guard method.isValid else { throw .badValue(method.rawValue, of: "--method", "is not a method") }
        var context = RetryContext(method: method, outcome: try outcome(subject), now: try now())
        for text in arguments.all(.header) {
            let field = try HeaderText.parse(text, option: "--header")
            context.headers.add(field.name, field.value)
        }
        if let text = arguments.last(.bytesSent) {
            context.bytesSent = Int64(try WholeNumber.parse(text, option: "--bytes-sent", in: 0...Int.max))
        }
        context.body = try choice(.body) ?? .none
        context.replay = try choice(.replay) ?? .automatic
        context.hasIdempotencyKey = arguments.has(.idempotencyKey)
        context.retryAfterPolicy = try PolicyText.retryAfterPolicy(arguments)
        if let text = arguments.last(.deadline) {
            let timeout = try DurationText.parse(text, option: "--deadline", allowsZero: true)
            var elapsed = Duration.zero
            if let text = arguments.last(.elapsed) {
                elapsed = try DurationText.parse(text, option: "--elapsed", allowsZero: true)
            }
            context.remaining = timeout - elapsed
        }
        var number = 1
        if let text = arguments.last(.attempt) {
            number = try WholeNumber.parse(text, option: "--attempt", in: 1...Int.max)
        }
        context.attempt = Attempt(number: number, remaining: context.remaining)
        var question = ExplainQuestion(context: context, policy: try PolicyText.policy(arguments), budget: try budget())
        if arguments.has(.retryFor), arguments.has(.policy) {
            throw UsageError("--retry-for and --policy exclude each other")
        }
        if asksForCommand || arguments.has(.retryFor) {
            question.command = try PolicyText.commandPolicy(arguments)
            if let text = arguments.last(.elapsed) {
                question.context.failingFor = try DurationText.parse(
                    text,
                    option: "--elapsed",
                    allowsZero: true
                )
            }
        }
        return question
    }

    /// The question about an attempt of a report.
    private func question(about record: ReportRecord) throws(UsageError) -> ExplainQuestion {
        for option in CommandSpec.explain.groups[0].options
        where arguments.has(option.name) && ![.attempt, .now].contains(option.name) {
            throw UsageError("--\(option.name.rawValue): the line of the report says that")
        }
        let number = try arguments.last(.attempt).map { text throws(UsageError) in
            try WholeNumber.parse(text, option: "--attempt", in: 1...Int.max)
        }
        let attempt = try record.attempt(number)
        var question = ExplainQuestion(
            context: record.context(attempt, now: try now()),
            policy: try PolicyText.policy(arguments),
            budget: try budget()
        )
        if asksForCommand { question.command = try PolicyText.commandPolicy(arguments) }
        question.recorded = attempt
        return question
    }

    private func budget() throws(UsageError) -> ExplainBudget? {
        // One line of JSON has the members that it always had, unless the budget is asked about.
        let isAsked = arguments.has(.budget) || arguments.has(.history) || arguments.has(.every)
        guard isAsked || (!arguments.has(.json) && !asksForCommand) else { return nil }
        var budget = ExplainBudget(name: try choice(.budget) ?? .standard)
        if let text = arguments.last(.history) {
            guard let history = ExplainBudget.history(text) else {
                throw .badValue(
                    text,
                    of: "--history",
                    "is not a list of statuses and failures, such as 200,503,timedOut"
                )
            }
            budget.history = history
        }
        if let text = arguments.last(.every) {
            budget.interval = min(try DurationText.parse(text, option: "--every", allowsZero: true), .seconds(86_400))
        }
        return budget
    }

    private func outcome(_ subject: ExplainSubject?) throws(UsageError) -> RetryContext.Outcome {
        switch subject {
        case .status(let status): return .status(status)
        case .failure(let code): return .failure(code)
        case .record, nil: break
        }
        let known = arguments.last(.error).flatMap(FailureWords.code)
        let code: HTTPError.Code? = if let known { known } else { try choice(.error) }
        switch (arguments.last(.status), code) {
        case (let text?, nil):
            let status = try WholeNumber.parse(text, option: "--status", in: ExplainLimits.status)
            return .status(HTTPStatus(rawValue: status))
        case (nil, let code?):
            return .failure(code)
        case (nil, nil):
            throw UsageError("what happened? Give a status, a failure such as ECONNRESET, or a line of --report")
        case (.some, .some):
            throw UsageError("--status and --error exclude each other")
        }
    }

    private func now() throws(UsageError) -> WallClock.Instant {
        guard let text = arguments.last(.now) else { return .now }
        guard let seconds = ASCIINumber.decimal(text), ExplainLimits.now.contains(seconds) else {
            throw .badValue(text, of: "--now", "is not a time in seconds since 1970")
        }
        return WallClock.Instant(sinceEpoch: .seconds(seconds))
    }

    private func choice<Choice>(_ name: OptionName) throws(UsageError) -> Choice?
    where Choice: RawRepresentable<String> & CaseIterable {
        guard let text = arguments.last(name) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let known = Choice.allCases.map(\.rawValue)
        let meant = SuggestionFinder.nearest(to: text, among: known).map { "did you mean \($0)?" }
        let list = known.count <= 6 ? "it is one of \(known.joined(separator: ", "))" : "it is not a known code"
        if name == .error, ASCIINumber.whole(text) != nil {
            throw .badValue(text, of: "--error", "is a number; a status is given by --status")
        }
        throw .badValue(text, of: "--\(name.rawValue)", "is not known; \(meant ?? list)")
    }
}
