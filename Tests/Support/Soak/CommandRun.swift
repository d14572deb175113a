// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
import Refrain

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Calls through `refrain get`, with a list, a file for each content and a report.
struct CommandRun {
    private let plan: SoakPlan
    private let calls: Int
    private let command: String

    init(_ plan: SoakPlan, calls: Int, command: String) {
        self.plan = plan
        self.calls = calls
        self.command = command
    }

    func row(_ concurrency: Int) async throws -> SoakRow {
        let server = try SoakServerProcess(plan)
        defer { server.stop() }
        let folder = FileManager.default.temporaryDirectory.appending(path: "refrain-soak-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(list(server.base).utf8).write(to: URL(filePath: folder + "/list"))
        let child = try SystemIO.start(
            command,
            [
                "get", "--from", folder + "/list", "--output-dir", folder + "/out", "--report", folder + "/report",
                "--concurrency", String(concurrency), "--no-budget", "--attempts", "16", "--backoff",
                "exponential:2ms:2:50ms", "--quiet",
            ]
        )
        let clock = ContinuousClock()
        let start = clock.now
        var row = SoakRow(name: "command")
        while SystemIO.status(of: child) == nil {
            if let usage = SystemIO.usage(of: String(child.pid)), usage.memory > 0 {
                row.late = usage
                if row.early.memory == 0, try await server.seen() >= calls / 10 { row.early = usage }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        row.seconds = (clock.now - start) / .seconds(1)
        let sends = try read(folder, &row)
        try await server.fill(&row, sends, kind: kind, isRefused: plan.isRefused)
        return row
    }

    /// What the command is asked for: each POST of the list has a key, without which it would be sent once.
    private func kind(_ number: Int) -> SoakPlan.Kind {
        let kind = plan.kind(number)
        return kind == .post ? .keyedPost : kind
    }

    private func list(_ base: String) -> String {
        var text = ""
        for number in 0..<calls {
            let url = "\(base)/call?n=\(number)"
            let output = "\(number / 1000)/\(number)"
            let body = String(decoding: plan.requestBody(number), as: UTF8.self)
            switch kind(number) {
            case .get, .download: text += #"{"url":"\#(url)","output":"\#(output)"}"# + "\n"
            case .put: text += #"{"url":"\#(url)","output":"\#(output)","method":"PUT","body":"\#(body)"}"# + "\n"
            case .post, .keyedPost:
                text +=
                    #"{"url":"\#(url)","output":"\#(output)","method":"POST","body":"\#(body)","key":"call-\#(number)"}"#
                    + "\n"
            }
        }
        return text
    }

    /// A line of the report.
    private struct Line: Decodable {
        struct Attempt: Decodable {
            let bytesSent: Int64?
            let error: String?
            let status: Int?

            enum CodingKeys: String, CodingKey {
                case bytesSent = "bytes_sent"
                case error
                case status
            }
        }

        let url: String
        let status: Int?
        let error: String?
        let attempts: [Attempt]
    }

    /// Reads the report and the files; returns the sends of each call.
    private func read(_ folder: String, _ row: inout SoakRow) throws -> [UInt8] {
        var sends = [UInt8](repeating: 0, count: calls)
        let report = try Data(contentsOf: URL(filePath: folder + "/report"))
        let decoder = JSONDecoder()
        row.calls = calls
        for text in report.split(separator: UInt8(ascii: "\n")) {
            let line = try decoder.decode(Line.self, from: Data(text))
            guard let number = line.url.split(separator: "=").last.flatMap({ Int($0) }) else { continue }
            sends[number] = UInt8(clamping: line.attempts.count { $0.bytesSent != 0 })
            if line.error == nil, line.status ?? 0 < 400 {
                let content = try? Data(contentsOf: URL(filePath: folder + "/out/\(number / 1000)/\(number)"))
                if content?.elementsEqual(plan.content(number)) ?? false {
                    row.succeeded += 1
                } else {
                    row.wrongBodies += 1
                }
            } else if line.error == "badServerResponse" {
                row.failedByRule += 1
            } else {
                row.failedOtherwise += 1
                let trail = line.attempts.map { $0.error ?? $0.status.map { String($0) } ?? "?" }
                row.differences.append("call \(number), \(kind(number).rawValue): \(line.error ?? "") \(trail)")
            }
        }
        return sends
    }
}
#endif
