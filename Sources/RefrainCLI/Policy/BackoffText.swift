// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// Schedules as they are written on the command line: `exponential:500ms:2:30s`, `constant:1s`, `none`.
enum BackoffText {
    /// The cap of schedules that name none (rule R12).
    private static let standardCap = Duration.seconds(30)

    /// Reads the schedule of the options, based on that of a policy.
    static func schedule(_ arguments: Arguments, base: Backoff) throws(UsageError) -> Backoff {
        var schedule = base
        var kind = base.jitter
        if let text = arguments.last(.backoff) {
            schedule = try parse(text)
            kind = .full
        }
        if let text = arguments.last(.jitter) { kind = try jitter(text) }
        return schedule.jittered(kind).limited(maxAttempts: try attempts(arguments) ?? base.maxAttempts)
    }

    /// The maximum number of attempts of the options; nil: not given.
    static func attempts(_ arguments: Arguments) throws(UsageError) -> Int? {
        guard let text = arguments.last(.attempts) else { return nil }
        return try WholeNumber.parse(text, option: "--attempts", in: 1...1_000_000)
    }

    /// Reads a schedule without jitter, of three attempts.
    ///
    /// - Parameter option: the option or member, for messages.
    static func parse(_ text: String, option: String = "--backoff") throws(UsageError) -> Backoff {
        var fields = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)[...]
        let kind = fields.popFirst() ?? ""
        func refuse(_ expected: String) -> UsageError { .badValue(text, of: option, expected) }
        func time(_ name: String) throws(UsageError) -> Duration? {
            guard let field = fields.popFirst() else { return nil }
            return try DurationText.parse(field, option: "\(option) (\(name))", allowsZero: true)
        }
        func wanted(_ name: String) throws(UsageError) -> Duration {
            guard let time = try time(name) else { throw refuse("lacks its \(name): \(forms[kind] ?? kind)") }
            return time
        }
        // The default cap is never below the base.
        func cap(over base: Duration) throws(UsageError) -> Duration { try time("cap") ?? max(standardCap, base) }
        let schedule: Backoff
        switch kind {
        case "none":
            schedule = .immediately()
        case "constant":
            schedule = .constant(delay: try wanted("delay"))
        case "linear":
            let (base, step) = (try wanted("base"), try time("step"))
            schedule = .linear(from: base, increment: step).capped(at: try cap(over: base))
        case "exponential":
            let base = try wanted("base")
            var factor = 2.0
            if let field = fields.popFirst() {
                guard let number = ASCIINumber.decimal(field) else {
                    throw .badValue(field, of: "\(option) (factor)", "is not a number such as 2 or 1.5")
                }
                factor = number
            }
            schedule = .exponential(from: base, factor: factor).capped(at: try cap(over: base))
        case "fibonacci":
            let base = try wanted("base")
            schedule = .fibonacci(from: base).capped(at: try cap(over: base))
        case "decorrelated":
            let base = try wanted("base")
            schedule = .decorrelated(from: base).capped(at: try cap(over: base))
        default:
            let meant = SuggestionFinder.nearest(to: kind, among: forms.keys.sorted())
            let advice =
                meant.map { "did you mean \($0)?" }
                ?? "the schedules are \(forms.keys.sorted().joined(separator: ", "))"
            throw refuse("is not a schedule; \(advice)")
        }
        guard fields.isEmpty else { throw refuse("has too many parts: \(forms[kind] ?? kind)") }
        return try validated(schedule, option)
    }

    private static func jitter(_ text: String) throws(UsageError) -> Jitter {
        switch text {
        case "full": return .full
        case "equal": return .equal
        case "none": return .none
        default: throw .badValue(text, of: "--jitter", "is not full, equal or none")
        }
    }

    private static func validated(_ schedule: Backoff, _ option: String) throws(UsageError) -> Backoff {
        do throws(InvalidArgument) {
            return try schedule.validated()
        } catch {
            throw UsageError("\(option): \(error)")
        }
    }

    private static let forms = [
        "none": "none",
        "constant": "constant:DELAY",
        "linear": "linear:BASE[:STEP[:CAP]]",
        "exponential": "exponential:BASE[:FACTOR[:CAP]]",
        "fibonacci": "fibonacci:BASE[:CAP]",
        "decorrelated": "decorrelated:BASE[:CAP]",
    ]
}
