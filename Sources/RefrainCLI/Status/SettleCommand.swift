// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// `refrain retry` and `refrain forget`: settle requests of a state whose outcome no run can know.
struct SettleCommand {
    /// Which of the two commands it is.
    enum Kind: Sendable {
        case again, forget
    }

    private let operand: String
    /// The file of the state; nil: it is in a database.
    private let path: String?
    private let shared: SharedStateLocation?
    private let ids: [String]
    private let settlement: Settlement

    init(_ arguments: Arguments, _ kind: Kind) throws(UsageError) {
        guard let operand = arguments.positionals.first else {
            throw UsageError("which run? Give its output folder or its state file, and the ids of its requests")
        }
        var ids: [String] = []
        for id in arguments.positionals.dropFirst() where !ids.contains(id) { ids.append(id) }
        guard !ids.isEmpty else {
            throw UsageError("which requests? Give their ids, which refrain status \(ShellText.quoted(operand)) shows")
        }
        switch kind {
        case .again:
            settlement = .again(keyLifetime: try arguments.duration(.keyLifetime) ?? RequestTemplate.defaultKeyLifetime)
        case .forget: settlement = .forget
        }
        self.operand = operand
        self.ids = ids
        shared = try SharedStateLocation(operand, arguments)
        path = shared == nil ? try StatusCommand.path(ofState: operand) : nil
    }

    /// Changes the state, and writes what was done with each request.
    func run(to output: Output) throws -> ExitStatus {
        let name = shared?.shown ?? Sanitized.text(operand)
        let settled: [Settlement.Settled]
        do throws(UsageError) {
            settled = try settle(name, now: WallClock.Instant.now.sinceEpoch.inSeconds)
        } catch {
            let text = error.description
            throw text.hasPrefix(name) ? error : UsageError("\(name): \(text)")
        }
        for (entry, change) in settled {
            let line = "\(entry.id)  \(entry.method)  \(SanitizedURL.shown(entry.url)): \(change.text)"
            try output.write(Array((Sanitized.line(line) + "\n").utf8))
        }
        return .success
    }

    private func settle(_ name: String, now: Double) throws(UsageError) -> [Settlement.Settled] {
        #if PostgreSQL
        if let shared {
            return try ListState(StatusCommand.store(at: shared)).settle(ids, as: settlement, now: now)
        }
        #endif
        guard let path else { return [] }
        return try ListState(path: path, option: name).settle(ids, as: settlement, now: now)
    }
}
