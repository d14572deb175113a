// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
import Refrain

/// What the client's side has counted.
final class Tally: Sendable {
    private struct State {
        /// The attempts that reached the transport, for each call.
        var transported: [UInt8]
        /// The attempts on record of which bytes may have left, for each call.
        var recorded: [UInt8]
        var usesRecords = false
        var succeeded = 0
        var failedByRule = 0
        var failedOtherwise = 0
        var wrongBodies = 0
        var notes: [String] = []
        var early = SystemIO.Usage()
    }

    private let state: Locked<State>
    private let calls: Int

    init(_ calls: Int) {
        self.calls = calls
        let zeros = [UInt8](repeating: 0, count: calls)
        state = Locked(State(transported: zeros, recorded: zeros))
    }

    /// Counts an attempt that reaches the transport.
    func noteSend(_ number: Int) { state.withLock { $0.transported[number] += 1 } }

    /// Counts a call that has ended.
    func note(_ end: SoakClient.End, _ number: Int, _ kind: SoakPlan.Kind, recordsSends: Bool) {
        state.withLock { state in
            state.usesRecords = recordsSends
            state.recorded[number] = UInt8(clamping: end.attempts.count { $0.bytesSent != 0 })
            switch end.outcome {
            case .right: state.succeeded += 1
            case .wrong: state.wrongBodies += 1
            case .failed(let code, _) where !kind.isRepeatable || code == .badServerResponse: state.failedByRule += 1
            case .failed(let code, let status):
                state.failedOtherwise += 1
                let trail = end.attempts.map { $0.error?.rawValue ?? $0.status.map { "\($0)" } ?? "?" }
                state.notes.append("call \(number), \(kind.rawValue): \(code?.rawValue ?? "\(status ?? 0)") \(trail)")
            }
        }
    }

    func noteEarlyUsage() {
        guard let usage = SystemIO.usage() else { return }
        state.withLock { $0.early = usage }
    }

    /// The sends of each call.
    var sends: [UInt8] { state.withLock { $0.usesRecords ? $0.recorded : $0.transported } }

    func fill(_ row: inout SoakRow) {
        state.withLock { state in
            row.calls = calls
            row.succeeded = state.succeeded
            row.failedByRule = state.failedByRule
            row.failedOtherwise = state.failedOtherwise
            row.wrongBodies = state.wrongBodies
            row.early = state.early
            row.differences += state.notes
            // Both counts of this side agree: nothing is sent that is not on record.
            guard state.usesRecords, state.recorded != state.transported else { return }
            let number = state.recorded.indices.first { state.recorded[$0] != state.transported[$0] } ?? 0
            row.differences.append(
                "call \(number): \(state.recorded[number]) on record, \(state.transported[number]) at the transport"
            )
        }
    }
}
#endif
