internal import Refrain

/// Schedules as they are written on the command line: `exponential:500ms:2:30s`, `constant:1s`, `none`.
enum BackoffText {
    /// The cap of schedules that name none (rule R12).
    static let standardCap = Duration.seconds(30)

    /// Reads the schedule that the options of a command describe, where they change that of a policy.
    static func schedule(_ arguments: Arguments, base: Backoff) throws(UsageError) -> Backoff {
        var schedule = base
        var kind = base.jitter
        if let text = arguments.last(.backoff) {
            schedule = try parse(text)
            kind = .full
        }
        if let text = arguments.last(.jitter) { kind = try jitter(text) }
        var attempts = base.maximumNumberOfAttempts
        if let text = arguments.last(.attempts) {
            attempts = try WholeNumber.parse(text, option: "--attempts", in: 1...1_000_000)
        }
        return try refusing("--backoff") { () throws(InvalidArgument) in
            try schedule.jittered(kind).limited(toAttempts: attempts)
        }
    }

    /// Reads a schedule without jitter, of three tries.
    static func parse(_ text: String) throws(UsageError) -> Backoff {
        var fields = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)[...]
        let kind = fields.popFirst() ?? ""
        let option = "--backoff"
        func refuse(_ expected: String) -> UsageError { .badValue(text, of: option, expected) }
        func time(_ name: String) throws(UsageError) -> Duration? {
            guard let field = fields.popFirst() else { return nil }
            return try DurationText.parse(field, option: "\(option) (\(name))", allowsZero: true)
        }
        func wanted(_ name: String) throws(UsageError) -> Duration {
            guard let time = try time(name) else { throw refuse("lacks its \(name): \(forms[kind] ?? kind)") }
            return time
        }
        let schedule: Backoff
        switch kind {
        case "none":
            schedule = try refusing(option) { () throws(InvalidArgument) in try .immediately() }
        case "constant":
            let delay = try wanted("delay")
            schedule = try refusing(option) { () throws(InvalidArgument) in try .constant(delay: delay) }
        case "linear":
            let (base, step, cap) = (try wanted("base"), try time("step"), try time("cap"))
            schedule = try capped(cap, base) { () throws(InvalidArgument) in try .linear(from: base, increment: step) }
        case "exponential":
            let base = try wanted("base")
            var factor = 2.0
            if let field = fields.popFirst() {
                guard let number = ASCIINumber.decimal(field) else {
                    throw .badValue(field, of: "\(option) (factor)", "is no number such as 2 or 1.5")
                }
                factor = number
            }
            let cap = try time("cap")
            schedule = try capped(cap, base) { () throws(InvalidArgument) in
                try .exponential(from: base, factor: factor)
            }
        case "fibonacci":
            let (base, cap) = (try wanted("base"), try time("cap"))
            schedule = try capped(cap, base) { () throws(InvalidArgument) in try .fibonacci(from: base) }
        case "decorrelated":
            let (base, cap) = (try wanted("base"), try time("cap"))
            schedule = try capped(cap, base) { () throws(InvalidArgument) in try .decorrelated(from: base) }
        default:
            let meant = Spelling.nearest(to: kind, among: forms.keys.sorted())
            let advice =
                meant.map { "did you mean \($0)?" }
                ?? "the schedules are \(forms.keys.sorted().joined(separator: ", "))"
            throw refuse("is no schedule; \(advice)")
        }
        guard fields.isEmpty else { throw refuse("has too many parts: \(forms[kind] ?? kind)") }
        return schedule
    }

    private static func jitter(_ text: String) throws(UsageError) -> Jitter {
        switch text {
        case "full": return .full
        case "equal": return .equal
        case "none": return .none
        default: throw .badValue(text, of: "--jitter", "is none of full, equal and none")
        }
    }

    private static func capped(
        _ cap: Duration?,
        _ base: Duration,
        _ make: () throws(InvalidArgument) -> Backoff
    ) throws(UsageError) -> Backoff {
        // A base over the usual cap was asked for by name, and is not refused for a cap that was not.
        try refusing("--backoff") { () throws(InvalidArgument) in
            try make().capped(at: cap ?? max(standardCap, base))
        }
    }

    private static func refusing<Value>(
        _ option: String,
        _ make: () throws(InvalidArgument) -> Value
    ) throws(UsageError) -> Value {
        do throws(InvalidArgument) {
            return try make()
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
