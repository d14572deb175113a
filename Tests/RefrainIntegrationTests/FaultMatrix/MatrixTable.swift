// SPDX-License-Identifier: Apache-2.0
/// Reads the table of expectations, and refuses one that is incomplete or says a thing twice.
struct MatrixTable {
    /// A line that cannot be read, or that contradicts another one.
    struct Flaw: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var cells: [MatrixCell] = []

    init(_ text: String) throws(Flaw) {
        try self.init(lines: text, columns: 7)
        try checkIsWhole()
    }

    private init(lines text: String, columns count: Int) throws(Flaw) {
        var faults: [String] = []
        for line in text.split(separator: "\n").dropFirst(2) {
            let columns = Self.columns(line)
            guard columns.count == count else { throw Flaw(description: "\(count) columns are needed: \(line)") }
            if !columns[0].isEmpty { faults = Self.list(columns[0]) }
            for fault in faults { try add(fault, columns) }
        }
    }

    /// Every fault, in the order of the table.
    var faults: [String] {
        var seen: Set<String> = []
        return cells.map(\.fault).filter { seen.insert($0).inserted }
    }

    /// The table with the lines of deviations in place of its own; each has to change something, and to say why.
    func deviating(as text: String) throws(Flaw) -> MatrixTable {
        var copy = self
        for line in try MatrixTable(lines: text, columns: 8).cells {
            guard let index = copy.cells.firstIndex(where: { $0.name == line.name }) else {
                throw Flaw(description: "not in the table: \(line.name)")
            }
            guard copy.cells[index].expected != line.expected else {
                throw Flaw(description: "no deviation: \(line.name)")
            }
            copy.cells[index].expected = line.expected
        }
        return copy
    }

    private mutating func add(_ fault: String, _ columns: [String]) throws(Flaw) {
        let line = columns.joined(separator: " | ")
        let connections: [ConnectionKind] =
            columns[2] == "both" ? ConnectionKind.allCases : ConnectionKind(rawValue: columns[2]).map { [$0] } ?? []
        guard !connections.isEmpty else { throw Flaw(description: "not a connection: \(line)") }
        let expected = try Self.expectation(fault, columns, line)
        for word in Self.list(columns[1]) {
            guard let kinds = RequestKind.named(word) else { throw Flaw(description: "not a request: \(line)") }
            for kind in kinds {
                for connection in connections {
                    let cell = MatrixCell(fault: fault, request: kind, connection: connection, expected: expected)
                    guard !cells.contains(where: { $0.name == cell.name }) else {
                        throw Flaw(description: "said twice: \(cell.name)")
                    }
                    cells.append(cell)
                }
            }
        }
    }

    private static func expectation(
        _ fault: String,
        _ columns: [String],
        _ line: String
    ) throws(Flaw) -> Expectation {
        let code = String(fault.dropFirst("/status/".count).prefix { $0.isNumber })
        let outcomes = alternatives(columns[3]).map { $0 == "CODE" ? code : $0 }
        // The attempts, and in brackets what arrives.
        let counts = columns[4].split(separator: "(").map(numbers)
        guard let attempts = counts.first ?? nil, counts.count < 2 || counts[1] != nil else {
            throw Flaw(description: "not a number of sends: \(line)")
        }
        let rules = Set(columns[6].split(separator: " ").map(String.init))
        guard !rules.isEmpty else { throw Flaw(description: "no rule: \(line)") }
        return Expectation(
            outcomes: outcomes,
            attempts: attempts,
            arrivals: counts.count < 2 ? nil : counts[1],
            reasons: alternatives(columns[5]),
            rules: rules
        )
    }

    /// Each fault is met by each kind of request, on both kinds of connection where there can be a second one.
    private func checkIsWhole() throws(Flaw) {
        let names = Set(cells.map(\.name))
        for fault in faults {
            let hasReused = cells.contains { $0.fault == fault && $0.connection == .reused }
            // A handshake that fails leaves no connection that could be used again.
            guard hasReused || fault.hasPrefix("tls: ") else {
                throw Flaw(description: "\(fault) is not met on a reused connection")
            }
            for connection in ConnectionKind.allCases where hasReused || connection == .new {
                for kind in RequestKind.allCases {
                    let name = "\(fault) · \(kind.rawValue) · \(connection.rawValue)"
                    guard names.contains(name) else { throw Flaw(description: "missing: \(name)") }
                }
            }
        }
    }

    private static func columns(_ line: Substring) -> [String] {
        line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map(trimmed)
    }

    /// The numbers of "2" and of "2 to 3".
    private static func numbers(_ text: Substring) -> ClosedRange<Int>? {
        let numbers = text.split { " )".contains($0) }.compactMap { Int($0) }
        guard let least = numbers.first, let most = numbers.last, least <= most else { return nil }
        return least...most
    }

    private static func list(_ text: String) -> [String] { text.split(separator: ",").map(trimmed) }

    private static func alternatives(_ text: String) -> [String] {
        text.split(separator: " ").filter { $0 != "or" }.map(String.init)
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}
