// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainSimulation

/// What `refrain simulate` is to simulate: options, on top of a file where one is given.
struct SimulationSettings: Sendable {
    var title = "A service that collapses"
    var policies: [SimulatedPolicy] = []
    var fleet = [1000]
    var sending = SimulatedSending()
    var load = Storm.Load.perSecond(40)
    var server = Storm.Server.collapse()
    var backend: Storm.Server?
    var backendPolicy = SimulatedPolicy.named(.recommended)
    var trigger = Storm.Trigger.spike(3, at: .seconds(30), lasting: .seconds(5))
    var duration = Duration.seconds(120)
    var timeout = Duration.seconds(3)
    var seed = 1
    var seeds = 1

    /// Reads the options of the command.
    init(_ arguments: Arguments) throws {
        if let word = arguments.positionals.first { throw UsageError("\(Sanitized.text(word)) is not expected here") }
        if let server = arguments.last(.server) { title = "The server \(Sanitized.text(server))" }
        if let path = arguments.last(.storm) { try read(path) }
        if arguments.has(.policy) {
            policies = []
            for text in arguments.all(.policy) { policies.append(try Self.policy(text, location: "--policy")) }
        }
        if policies.isEmpty { policies = [.named(.none), .named(.immediate), .named(.recommended)] }
        if let text = arguments.last(.fleet) { fleet = try Self.sizes(text) }
        if let text = arguments.last(.load) {
            guard let rate = ASCIINumber.decimal(text) else {
                throw UsageError.badValue(text, of: "--load", "is not a number of calls per second, such as 40")
            }
            load = .perSecond(rate)
        }
        if let text = arguments.last(.pace) { sending.pace = try PaceText.parse(text, option: "--pace") }
        if let text = arguments.last(.cost) {
            guard let cost = ASCIINumber.decimal(text) else {
                throw UsageError.badValue(text, of: "--cost", "is not a number of tokens, such as 1200")
            }
            sending.cost = cost
        }
        if let limit = sending.pace?.cost, sending.cost > limit {
            let (cost, limit) = (Decimals.text(sending.cost, places: 0), Decimals.text(limit, places: 0))
            throw UsageError("a cost of \(cost) never fits into a pace of \(limit)")
        }
        if let text = arguments.last(.server) { server = try StormText.server(text, location: "--server") }
        if let text = arguments.last(.backend) { backend = try StormText.server(text, location: "--backend") }
        if let text = arguments.last(.backendPolicy) {
            backendPolicy = try Self.policy(text, location: "--backend-policy")
        }
        if let text = arguments.last(.trigger) { trigger = try StormText.trigger(text, location: "--trigger") }
        if let text = arguments.last(.duration) { duration = try DurationText.parse(text, option: "--duration") }
        if let text = arguments.last(.timeout) { timeout = try DurationText.parse(text, option: "--timeout") }
        if let text = arguments.last(.seed) { seed = try WholeNumber.parse(text, option: "--seed", in: 0...Int.max) }
        if let text = arguments.last(.seeds) { seeds = try WholeNumber.parse(text, option: "--seeds", in: 1...1000) }
    }

    /// The storm with so many clients, or the refusal that says what is wrong with it.
    func storm(clients: Int) throws -> Storm {
        var server = server
        if let backend {
            let make = backendPolicy.make
            server = server.calling(backend) { make($0, $0.server) }
        }
        return try Storm(
            clients: clients,
            load: load,
            server: server,
            trigger: trigger,
            duration: duration,
            timeout: timeout,
            seed: UInt64(seed)
        )
    }

    private static func sizes(_ text: String) throws(UsageError) -> [Int] {
        var sizes: [Int] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            sizes.append(try WholeNumber.parse(part, option: "--fleet", in: 1...100_000_000))
        }
        return sizes
    }

    /// A policy by its name, or from the file that the text names.
    private static func policy(_ text: String, location: String) throws -> SimulatedPolicy {
        if let name = SimulatedPolicy.Name(rawValue: text) { return .named(name) }
        guard text.hasSuffix(".json") else {
            let known = SimulatedPolicy.Name.allCases.map(\.rawValue)
            let meant = SuggestionFinder.nearest(to: text, among: known).map { "did you mean \($0)?" }
            let names = known.joined(separator: ", ")
            let advice = meant ?? "the policies are \(names), or a file whose name ends in .json"
            throw UsageError.badValue(text, of: location, "is not a policy; \(advice)")
        }
        let json = try JSONNode.parse(try contents(text, location), source: text)
        return try StormFile(source: text).policy(json, name: text)
    }

    /// Takes over what a file says.
    private mutating func read(_ path: String) throws {
        let json = try JSONNode.parse(try Self.contents(path, "--storm"), source: path)
        try StormFile(source: path).read(json, into: &self)
    }

    private static func contents(_ path: String, _ option: String) throws(UsageError) -> [UInt8] {
        do throws(SystemError) {
            return try Input(path: path).rest()
        } catch {
            throw UsageError("\(option): \(error)")
        }
    }
}
