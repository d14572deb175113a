// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
/// What a run has come to.
struct SoakRow: Sendable {
    let name: String
    var calls = 0
    var succeeded = 0
    /// The calls that failed by the rules: not to be sent again, or garbage twice.
    var failedByRule = 0
    /// The calls that failed otherwise.
    var failedOtherwise = 0
    /// The bodies that were not what the server sent, or what the client sent.
    var wrongBodies = 0
    var sendsByClient = 0
    var sendsByServer = 0
    /// The calls whose two counts differ, each with what is known of it.
    var differences: [String] = []
    /// The requests that arrived twice and must not.
    var doubles = 0
    var seconds = 0.0
    var early = SystemIO.Usage()
    var late = SystemIO.Usage()

    /// Whether every figure is as it has to be.
    var isSound: Bool {
        wrongBodies == 0 && doubles == 0 && failedOtherwise == 0 && differences.isEmpty
            && sendsByClient == sendsByServer && calls == succeeded + failedByRule
    }
}

/// The figures of all runs, one row each.
enum SoakTable {
    static func text(_ rows: [SoakRow]) -> String {
        let head = [
            "", "calls", "succeeded", "failed by rule", "failed otherwise", "wrong bodies", "sends (client)",
            "sends (server)", "doubles", "memory at 1/10", "memory at the end", "files at 1/10", "files at the end",
            "calls/s",
        ]
        let cells = rows.map { row in
            [
                row.name, grouped(row.calls), grouped(row.succeeded), grouped(row.failedByRule),
                grouped(row.failedOtherwise), grouped(row.wrongBodies), grouped(row.sendsByClient),
                grouped(row.sendsByServer), grouped(row.doubles), megabytes(row.early.memory),
                megabytes(row.late.memory), grouped(row.early.descriptors), grouped(row.late.descriptors),
                grouped(Int(Double(row.calls) / max(row.seconds, 0.001))),
            ]
        }
        // One line for each figure: the table stays narrow, and a run is a column.
        let lines = head.indices.map { index in [head[index]] + cells.map { $0[index] } }
        let widths = (0...rows.count).map { column in lines.map { $0[column].count }.max() ?? 0 }
        let table = lines.map { line in
            line.enumerated().map { index, cell in
                let padding = String(repeating: " ", count: widths[index] - cell.count)
                return index == 0 ? cell + padding : padding + cell
            }
            .joined(separator: "  ")
        }
        let notes = rows.flatMap { row in row.differences.prefix(20).map { "\(row.name): \($0)" } }
        return (table + notes).joined(separator: "\n")
    }

    private static func megabytes(_ bytes: Int) -> String {
        "\(bytes / 1_048_576).\((bytes % 1_048_576) * 10 / 1_048_576) MiB"
    }

    private static func grouped(_ number: Int) -> String {
        var text = ""
        for (index, digit) in String(number).reversed().enumerated() {
            if index > 0, index.isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
#endif
