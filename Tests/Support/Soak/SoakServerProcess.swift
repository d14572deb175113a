// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
import Refrain

/// The server of a run, and what it has counted.
struct SoakServerProcess: Sendable {
    /// `http://127.0.0.1:PORT`.
    let base: String
    private let child: SystemIO.Child
    private let loader = CurlLoader()

    init(_ plan: SoakPlan) throws {
        let words = ["--role", "server", "--seed", String(plan.seed), "--rate", String(plan.rate)]
        child = try SystemIO.start(SystemIO.ownPath, words)
        base = SystemIO.firstLine(of: child)
    }

    func stop() { SystemIO.end(child) }

    /// How many calls have arrived so far.
    func seen() async throws -> Int {
        Int(try await loader.response(for: HTTPRequest(base + "/seen")).text ?? "") ?? 0
    }

    /// Adds the server's figures to those of the client, and compares them call by call.
    ///
    /// A request that is not repeatable may arrive again only where each earlier arrival was refused (rule R2).
    func fill(
        _ row: inout SoakRow,
        _ sends: [UInt8],
        kind: (_ number: Int) -> SoakPlan.Kind,
        isRefused: (_ number: Int, _ attempt: Int) -> Bool
    ) async throws {
        let response = try await loader.response(for: HTTPRequest(base + "/counts"))
        var arrivals = try await response.body.collect()
        arrivals += [UInt8](repeating: 0, count: max(0, sends.count - arrivals.count))
        row.wrongBodies += response.headers["X-Wrong-Bodies"].flatMap { Int($0) } ?? 0
        for number in sends.indices {
            row.sendsByClient += Int(sends[number])
            row.sendsByServer += Int(arrivals[number])
            let kind = kind(number)
            let processed = (1..<max(1, Int(arrivals[number]))).contains { !isRefused(number, $0) }
            if !kind.isRepeatable, processed { row.doubles += 1 }
            guard sends[number] != arrivals[number] else { continue }
            row.differences.append(
                "call \(number), \(kind.rawValue): \(sends[number]) sent, \(arrivals[number]) arrived"
            )
        }
    }
}
#endif
