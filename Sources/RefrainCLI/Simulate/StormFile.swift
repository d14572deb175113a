// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainSimulation

/// The files of `refrain simulate`, which describe a storm or a policy.
///
/// What is wrong in one is named by its line and its member.
struct StormFile {
    let source: String

    private typealias Member = (name: String, value: JSONNode)

    private func location(_ member: Member) -> String { "\(source), line \(member.value.line), \(member.name)" }

    private func refuse(_ member: Member, _ expected: String) -> UsageError {
        UsageError("\(location(member)): is \(member.value.kind), and not \(expected)")
    }

    private func text(_ member: Member) throws(UsageError) -> String {
        guard case .string(let text) = member.value.value else { throw refuse(member, "a string") }
        return text
    }

    private func number(_ member: Member) throws(UsageError) -> Double {
        guard case .number(let number) = member.value.value else { throw refuse(member, "a number") }
        return number
    }

    private func count(_ member: Member, in range: ClosedRange<Int>) throws(UsageError) -> Int {
        let number = try number(member)
        guard let count = Int(exactly: number), range.contains(count) else {
            throw UsageError(
                "\(location(member)): must be a whole number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return count
    }

    private func list(_ member: Member) throws(UsageError) -> [JSONNode] {
        guard case .array(let items) = member.value.value else { throw refuse(member, "a list") }
        guard !items.isEmpty else { throw UsageError("\(location(member)): is empty") }
        return items
    }

    private func time(_ member: Member) throws(UsageError) -> Duration {
        try DurationText.parse(try text(member), option: location(member), allowsZero: true)
    }

    private func members(_ json: JSONNode, _ what: String) throws(UsageError) -> [Member] {
        guard case .object(let members) = json.value else {
            throw UsageError("\(source), line \(json.line): \(what) is \(json.kind), and not an object")
        }
        return members
    }

    private func unknown(_ member: Member, among known: [String]) -> UsageError {
        let meant = SuggestionFinder.nearest(to: member.name, among: known).map { "did you mean \($0)?" }
        let advice = meant ?? "the members are \(known.joined(separator: ", "))"
        let location = "\(source), line \(member.value.line)"
        return UsageError("\(location): unknown member \(Sanitized.text(member.name)); \(advice)")
    }

    /// Takes over what a storm's file says.
    func read(_ json: JSONNode, into settings: inout SimulationSettings) throws(UsageError) {
        var closed: (callers: Int?, pause: Duration?) = (nil, nil)
        let members = try members(json, "the storm")
        for (one, others) in [("clients", ["fleet"]), ("load", ["callers", "pause"])] {
            guard members.contains(where: { $0.name == one }),
                let other = members.first(where: { others.contains($0.name) })
            else { continue }
            throw UsageError("\(location(other)): excludes \(one)")
        }
        for member in members {
            switch member.name {
            case "title": settings.title = try text(member)
            case "fleet":
                settings.fleet = []
                for item in try list(member) {
                    settings.fleet.append(try count((member.name, item), in: 1...100_000_000))
                }
            case "clients": settings.fleet = [try count(member, in: 1...100_000_000)]
            case "load": settings.load = .perSecond(try number(member))
            case "callers": closed.callers = try count(member, in: 1...1_000_000)
            case "pause": closed.pause = try time(member)
            case "pace": settings.sending.pace = try PaceText.parse(try text(member), option: location(member))
            case "cost":
                settings.sending.cost = try number(member)
                guard settings.sending.cost >= 0 else { throw UsageError("\(location(member)): is negative") }
            case "server": settings.server = try StormText.server(try text(member), location: location(member))
            case "backend": settings.backend = try StormText.server(try text(member), location: location(member))
            case "backend_policy": settings.backendPolicy = try policy(member.value, name: member.name)
            case "trigger": settings.trigger = try StormText.trigger(try text(member), location: location(member))
            case "duration": settings.duration = try time(member)
            case "timeout": settings.timeout = try time(member)
            case "seed": settings.seed = try count(member, in: 0...(1 << 53))
            case "seeds": settings.seeds = try count(member, in: 1...1000)
            case "policies":
                settings.policies = []
                for item in try list(member) { settings.policies.append(try policy(item, name: source)) }
            default:
                throw unknown(
                    member,
                    among: [
                        "title", "fleet", "clients", "load", "callers", "pause", "pace", "cost", "server", "backend",
                        "backend_policy", "trigger", "duration", "timeout", "seed", "seeds", "policies",
                    ]
                )
            }
        }
        guard closed.callers != nil || closed.pause != nil else { return }
        settings.load = .closed(callers: closed.callers ?? 1, pause: closed.pause ?? .seconds(1))
    }

    /// Reads a policy: its name, or an object that describes it.
    func policy(_ json: JSONNode, name: String) throws(UsageError) -> SimulatedPolicy {
        if case .string(let text) = json.value {
            guard let known = SimulatedPolicy.Name(rawValue: text) else {
                let names = SimulatedPolicy.Name.allCases.map(\.rawValue).joined(separator: ", ")
                let location = "\(source), line \(json.line)"
                throw UsageError("\(location): \(Sanitized.text(text)) is not a policy; they are \(names)")
            }
            return .named(known)
        }
        var name = name
        var policy = RetryPolicy.recommended
        var schedule: Backoff?
        var jitter = Jitter.full
        var attempts: Int?
        var overload: Backoff?
        var budget: SimulatedPolicy.Budget = { .standard(clock: $0, random: $1) }
        for member in try members(json, "a policy") {
            switch member.name {
            case "name": name = try text(member)
            case "criteria":
                switch try text(member) {
                case "recommended": policy = .recommended
                case "alamofire": policy = RetryPolicy()
                case let other:
                    throw UsageError(
                        "\(location(member)): \(Sanitized.text(other)) is neither recommended nor alamofire"
                    )
                }
            case "schedule": schedule = try BackoffText.parse(try text(member), option: location(member))
            case "jitter":
                switch try text(member) {
                case "full": jitter = .full
                case "equal": jitter = .equal
                case "none": jitter = .none
                case let other:
                    throw UsageError("\(location(member)): \(Sanitized.text(other)) is not full, equal or none")
                }
            case "overload_schedule": overload = try BackoffText.parse(try text(member), option: location(member))
            case "attempts": attempts = try count(member, in: 1...1_000_000)
            case "budget": budget = try self.budget(member)
            default:
                throw unknown(
                    member,
                    among: ["name", "criteria", "schedule", "overload_schedule", "jitter", "attempts", "budget"]
                )
            }
        }
        if let schedule { policy.schedule = schedule.jittered(jitter) }
        policy.overloadSchedule = overload?.jittered(jitter)
        if let attempts { policy.schedule = policy.schedule.limited(maxAttempts: attempts) }
        return SimulatedPolicy(name, policy, budget: budget)
    }

    /// `standard`, `fleet`, `per-process`, `none`, `window:RATIO:PER_SECOND` or `tokens:CAPACITY:COST[:REFUND]`.
    private func budget(_ member: Member) throws(UsageError) -> SimulatedPolicy.Budget {
        let text = try text(member)
        let fields = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        do {
            if let budget = try Self.budget(fields) { return budget }
        } catch {
            throw UsageError("\(location(member)): \(error)")
        }
        throw UsageError(
            "\(location(member)): \(Sanitized.text(text)) is not a budget; write standard, fleet, per-process, none, "
                + "window:RATIO:PER_SECOND or tokens:CAPACITY:COST[:REFUND]"
        )
    }

    /// Makes a budget of the fields of its notation; nil where they are none.
    private static func budget(_ fields: [String]) throws(InvalidArgument) -> SimulatedPolicy.Budget? {
        let wholes = fields.dropFirst().compactMap { ASCIINumber.whole($0) }
        switch (fields.first, fields.count) {
        case ("standard", 1): return { .standard(clock: $0, random: $1) }
        case ("fleet", 1): return { .fleet(clock: $0, random: $1) }
        case ("per-process", 1): return { clock, _ in RetryBudget(clock: clock) }
        case ("none", 1): return { _, _ in nil }
        case ("window", 3):
            guard let ratio = ASCIINumber.decimal(fields[1]), let perSecond = ASCIINumber.whole(fields[2]) else {
                return nil
            }
            _ = try RetryBudget.validated(ratio: ratio, minimumRetriesPerSecond: perSecond)
            return { clock, _ in RetryBudget(ratio: ratio, minimumRetriesPerSecond: perSecond, clock: clock) }
        case ("tokens", 3...4) where wholes.count == fields.count - 1:
            let costs = RetryBudget.Costs(transient: wholes[1], timeout: wholes[1], throttled: wholes[1])
            let refund = wholes.count > 2 ? wholes[2] : 1
            _ = try RetryBudget.validatedTokens(capacity: wholes[0], costs: costs, refund: refund)
            return { _, _ in .tokens(capacity: wholes[0], costs: costs, refund: refund) }
        default: return nil
        }
    }
}
