// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// Passes a body on as it arrives, except its beginning, which is held back until a limit or the end.
///
/// As long as nothing was passed on, a body that was cut short can be fetched again unseen. No byte is passed on
/// twice.
final class StreamSink: ContentSink {
    /// How much is held back, unless an option says otherwise.
    static let holdBack = 1 << 20

    private let output: Output
    private let holdBack: Int
    private let state = Locked(State())

    private struct State {
        var held: [UInt8] = []
        var passed: Int64 = 0
    }

    init(_ output: Output, holdBack: Int = holdBack) {
        self.output = output
        self.holdBack = holdBack
    }

    var delivered: Int64 { state.withLock { $0.passed } }

    func write(_ bytes: [UInt8]) async throws {
        let ready: [UInt8]? = state.withLock { state in
            if state.passed > 0 { return bytes }
            state.held += bytes
            guard state.held.count > holdBack else { return nil }
            defer { state.held = [] }
            return state.held
        }
        if let ready { try pass(ready) }
    }

    var canStartOver: Bool { state.withLock { $0.passed == 0 } }

    func startOver() async throws {
        let canStartOver = state.withLock { state in
            state.held = []
            return state.passed == 0
        }
        guard canStartOver else { throw Download.CannotStartOver() }
    }

    func finish() throws {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        try pass(held)
    }

    private func pass(_ bytes: [UInt8]) throws {
        // Counted before the write, because a write that fails may have passed on some bytes.
        state.withLock { $0.passed += Int64(bytes.count) }
        try output.write(bytes)
    }
}
