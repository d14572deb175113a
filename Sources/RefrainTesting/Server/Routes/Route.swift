// SPDX-License-Identifier: Apache-2.0
typealias Step = FaultServer.Step
typealias Response = FaultServer.Response

/// A built-in path and its script.
struct Route: Sendable {
    let entry: FaultServer.CatalogueEntry
    /// Whether the body is read before the script runs.
    let readsBody: Bool
    /// Whether the script evaluates `times` itself, because not every request to it is a fault.
    let countsForItself: Bool
    let script: @Sendable (Call) throws -> [Step]

    init(
        _ pattern: String,
        example: String,
        _ summary: String,
        options: [String] = [],
        kind: FaultServer.CatalogueEntry.Kind = .fault,
        readsBody: Bool = true,
        countsForItself: Bool = false,
        script: @escaping @Sendable (Call) throws -> [Step]
    ) {
        let name = pattern.split(separator: "/").first.map(String.init) ?? "index"
        entry = .init(
            name: name,
            pattern: pattern,
            example: example,
            summary: summary,
            options: options,
            kind: kind
        )
        self.readsBody = readsBody
        self.countsForItself = countsForItself
        self.script = script
    }

    /// All routes, in the order of the listing.
    static let all: [Route] =
        plain + content + status + timing + resets + closes + reuse + garbage + hangs + sizes + codings + redirects
        + limits + modelAPIs + bodies + control

    /// Finds the route of a path by its first component.
    static func find(_ path: String) -> Route? {
        guard path.utf8.first == UInt8(ascii: "/") else { return path == "*" ? byName["index"] : nil }
        let name = path.dropFirst().prefix { $0 != "/" }
        return name.isEmpty ? (path == "/" ? byName["index"] : nil) : byName[String(name)]
    }

    private static let byName = Dictionary(all.map { ($0.entry.name, $0) }) { first, _ in first }
}

/// A request for a built-in path, with its options.
struct Call {
    let request: FaultServer.Request
    let server: ServerState

    init(_ request: FaultServer.Request, _ server: ServerState) {
        self.request = request
        self.server = server
    }

    /// Whether this request is among the first `times`; true without that option.
    var isWithinTimes: Bool {
        get throws { try request.occurrence <= optionalInteger("times") ?? Int.max }
    }

    /// The path component after the name, as a number.
    func argument(_ name: String, in range: ClosedRange<Int> = 0...Call.largest) throws -> Int {
        let components = request.path.split(separator: "/")
        let text = components.count > 1 ? String(components[1]) : ""
        guard let number = Int(text), range.contains(number) else { throw BadOption(name: name, value: text) }
        return number
    }

    func text(_ name: String) -> String? { request.query(name) }

    func texts(_ name: String) -> [String] { request.query.filter { $0.name == name }.map(\.value) }

    func flag(_ name: String) throws -> Bool {
        switch request.query(name) {
        case nil, "0", "false", "no": return false
        case "", "1", "true", "yes": return true
        case .some(let value): throw BadOption(name: name, value: value)
        }
    }

    func integer(_ name: String, _ fallback: Int, in range: ClosedRange<Int> = 0...Call.largest) throws -> Int {
        guard let number = try optionalInteger(name) else { return fallback }
        guard range.contains(number) else { throw BadOption(name: name, value: String(number)) }
        return number
    }

    func optionalInteger(_ name: String) throws -> Int? {
        guard let text = request.query(name) else { return nil }
        guard let number = Int(text), (0...Call.largest).contains(number) else {
            throw BadOption(name: name, value: text)
        }
        return number
    }

    func number(_ name: String, _ fallback: Double, in range: ClosedRange<Double>) throws -> Double {
        guard let text = request.query(name) else { return fallback }
        guard let number = Double(text), range.contains(number) else { throw BadOption(name: name, value: text) }
        return number
    }

    /// A duration in milliseconds, at most one day.
    func duration(_ name: String, _ fallback: Int) throws -> Duration {
        .milliseconds(try integer(name, fallback, in: 0...86_400_000))
    }

    /// A reset if `reset` is set, otherwise a close.
    func ending() throws -> Step { try flag("reset") ? .reset : .close }

    /// Larger than any file, and small enough not to overflow.
    static let largest = 1 << 50
}

/// An option with an invalid value; the response is 400.
struct BadOption: Error {
    var name: String
    var value: String
}
