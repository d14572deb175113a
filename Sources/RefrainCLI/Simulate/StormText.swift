// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainSimulation

/// Servers and triggers as they are written: `collapse:1s:10ms`, `spike:3:30s:5s`.
enum StormText {
    /// The parts of a notation, taken one after the other.
    private struct Parts {
        let text: String
        let form: String
        let location: String
        var fields: ArraySlice<String>

        func refuse(_ problem: String) -> UsageError { UsageError("\(location): \(Sanitized.text(text)) \(problem)") }

        mutating func next(_ name: String) throws(UsageError) -> String {
            guard let field = fields.popFirst() else { throw refuse("lacks its \(name): \(form)") }
            return field
        }

        mutating func time(_ name: String) throws(UsageError) -> Duration {
            try DurationText.parse(try next(name), option: "\(location) (\(name))", allowsZero: true)
        }

        mutating func time(_ name: String, default value: Duration) throws(UsageError) -> Duration {
            fields.isEmpty ? value : try time(name)
        }

        mutating func number(_ name: String) throws(UsageError) -> Double {
            let field = try next(name)
            guard let number = ASCIINumber.decimal(field) else {
                throw refuse("has \(Sanitized.text(field)) where its \(name) is expected: \(form)")
            }
            return number
        }

        mutating func count(_ name: String, default value: Int? = nil) throws(UsageError) -> Int {
            if let value, fields.isEmpty { return value }
            let field = try next(name)
            guard let number = ASCIINumber.whole(field) else {
                throw refuse("has \(Sanitized.text(field)) where its \(name), a whole number, is expected: \(form)")
            }
            return number
        }

        mutating func choice<Choice>(_ name: String, default value: Choice) throws(UsageError) -> Choice
        where Choice: RawRepresentable<String> & CaseIterable {
            guard let field = fields.popFirst() else { return value }
            guard let choice = Choice(rawValue: field) else {
                let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw refuse("has the unknown \(name) \(Sanitized.text(field)); it is one of \(known)")
            }
            return choice
        }

        func end() throws(UsageError) {
            guard fields.isEmpty else { throw refuse("has too many parts: \(form)") }
        }
    }

    static let servers = [
        "collapse": "collapse[:LATENCY[:PER_REQUEST]]",
        "queue": "queue:WORKERS:SERVICE_TIME[:BUFFER]",
        "limit": "limit:PER_SECOND[:BURST[:none|retry-after|rate-limit]]",
        "model-api": "model-api:LIMITS[:LATENCY]",
        "capacity": "capacity:PER_SECOND:AT=SHARE[,AT=SHARE…]",
        "script": "script:LENGTH=LATENCY[/FAILURE_RATE[/STATUS]][,…]",
    ]

    static let triggers = [
        "none": "none",
        "spike": "spike:FACTOR:AT:LENGTH",
        "outage": "outage:AT:LENGTH[:unavailable|refused|silence]",
        "slowdown": "slowdown:FACTOR:AT:LENGTH",
        "loss": "loss:SHARE:AT:LENGTH",
        "deploy": "deploy:INSTANCES:DOWNTIME:AT",
        "cache": "cache:FACTOR:ENTRIES:AT",
    ]

    private static func parts(
        _ text: String,
        _ forms: [String: String],
        _ what: String,
        _ location: String
    ) throws(UsageError) -> (kind: String, parts: Parts) {
        var fields = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)[...]
        let kind = fields.popFirst() ?? ""
        guard let form = forms[kind] else {
            let known = forms.keys.sorted()
            let meant = SuggestionFinder.nearest(to: kind, among: known).map { "did you mean \($0)?" }
            let advice = meant ?? "the \(what)s are \(known.joined(separator: ", "))"
            throw UsageError("\(location): \(Sanitized.text(kind)) is not a \(what); \(advice)")
        }
        return (kind, Parts(text: text, form: form, location: location, fields: fields))
    }

    /// Reads a server.
    ///
    /// - Parameter location: the option, or the file, line and member, for messages.
    static func server(_ text: String, location: String) throws(UsageError) -> Storm.Server {
        var (kind, parts) = try parts(text, servers, "server", location)
        let server: Storm.Server
        switch kind {
        case "collapse":
            let latency = try parts.time("latency", default: .seconds(1))
            server = .collapse(latency: latency, perRequest: try parts.time("time", default: .milliseconds(10)))
        case "queue":
            let (workers, time) = (try parts.count("workers"), try parts.time("service time"))
            server = .queue(workers: workers, serviceTime: time, buffer: try parts.count("buffer", default: 1000))
        case "limit":
            let rate = try parts.number("rate")
            let burst = try parts.count("burst", default: 10)
            let hints: Storm.Server.RateLimitHints = try parts.choice("hint", default: .retryAfter)
            server = .rateLimited(perSecond: rate, burst: burst, hints: hints)
        case "model-api":
            let limits = try PaceText.parse(try parts.next("limits"), option: location)
            server = .modelAPI(limits, latency: try parts.time("latency", default: .milliseconds(500)))
        case "capacity":
            let rate = try parts.number("rate")
            server = .capacity(perSecond: rate, steps: try steps(try parts.next("steps"), parts))
        default:
            server = .script(try phases(try parts.next("phases"), parts))
        }
        try parts.end()
        return server
    }

    private static func steps(_ text: String, _ parts: Parts) throws(UsageError) -> [Storm.Server.CapacityStep] {
        var steps: [Storm.Server.CapacityStep] = []
        for step in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = step.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard sides.count == 2, let share = ASCIINumber.decimal(sides[1]) else {
                throw parts.refuse("has \(Sanitized.text(String(step))) where AT=SHARE is expected")
            }
            let time = try DurationText.parse(sides[0], option: "\(parts.location) (time)", allowsZero: true)
            steps.append(.init(at: time, share: share))
        }
        return steps
    }

    private static func phases(_ text: String, _ parts: Parts) throws(UsageError) -> [Storm.Server.Phase] {
        var phases: [Storm.Server.Phase] = []
        for phase in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = phase.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            let values = sides.last?.split(separator: "/", omittingEmptySubsequences: false).map(String.init) ?? []
            guard sides.count == 2, (1...3).contains(values.count) else {
                throw parts.refuse("has \(Sanitized.text(String(phase))) where a phase is expected: \(parts.form)")
            }
            let rate = values.count > 1 ? ASCIINumber.decimal(values[1]) : 0
            let status = values.count > 2 ? ASCIINumber.whole(values[2]) : 503
            guard let rate, let status else {
                throw parts.refuse("has \(Sanitized.text(String(phase))) where a phase is expected: \(parts.form)")
            }
            let length = try DurationText.parse(sides[0], option: "\(parts.location) (length)")
            let latency = try DurationText.parse(values[0], option: "\(parts.location) (latency)")
            phases.append(.init(lasting: length, latency: latency, failureRate: rate, failureStatus: status))
        }
        return phases
    }

    /// Reads a trigger, or several that are joined by plus signs.
    static func trigger(_ text: String, location: String) throws(UsageError) -> Storm.Trigger {
        var trigger = Storm.Trigger.none
        for text in text.split(separator: "+", omittingEmptySubsequences: false).map(String.init) {
            trigger = trigger.and(try oneTrigger(text, location: location))
        }
        return trigger
    }

    private static func oneTrigger(_ text: String, location: String) throws(UsageError) -> Storm.Trigger {
        var (kind, parts) = try parts(text, triggers, "trigger", location)
        let trigger: Storm.Trigger
        switch kind {
        case "none":
            trigger = .none
        case "spike":
            let factor = try parts.number("factor")
            trigger = .spike(factor, at: try parts.time("time"), lasting: try parts.time("length"))
        case "outage":
            let (start, length) = (try parts.time("time"), try parts.time("length"))
            trigger = .outage(at: start, lasting: length, as: try parts.choice("failure", default: .unavailable))
        case "slowdown":
            let factor = try parts.number("factor")
            trigger = .slowdown(factor, at: try parts.time("time"), lasting: try parts.time("length"))
        case "loss":
            let share = try parts.number("share")
            trigger = .packetLoss(share, at: try parts.time("time"), lasting: try parts.time("length"))
        case "deploy":
            let (instances, downtime) = (try parts.count("instances"), try parts.time("downtime"))
            trigger = .deploy(instances: instances, downtime: downtime, at: try parts.time("time"))
        default:
            let (factor, entries) = (try parts.number("factor"), try parts.count("entries"))
            trigger = .coldCache(factor, entries: entries, at: try parts.time("time"))
        }
        try parts.end()
        return trigger
    }
}
