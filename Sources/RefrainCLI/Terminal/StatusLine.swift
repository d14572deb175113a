// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Standard error during a run: lines that stay, and on a terminal one line below them that is drawn again and again.
///
/// All messages of a run go through it, so that none is written into the line.
final class StatusLine: Sendable {
    private struct State {
        /// Whether the line is on the screen.
        var isDrawn = false
        var isEnded = false
    }

    private let output: Output
    private let state = Locked(State())
    /// Whether a line can be drawn.
    let isTerminal: Bool

    init(_ output: Output = .error) {
        self.output = output
        // A dumb terminal, as a shell in an editor has, shows the control sequences instead of obeying them.
        let isDumb = getenv("TERM").map { String(cString: $0) } == "dumb"
        isTerminal = output.columns != nil && !isDumb
    }

    /// The time from one drawing to the next.
    private static let interval = Duration.milliseconds(100)

    /// Writes lines that stay; `text` ends with a line feed.
    ///
    /// Replaces control characters, because parts of the text may come from a server.
    func say(_ text: String) {
        if !text.isEmpty { write(Sanitized.plain(text)) }
    }

    /// Writes text as it is, above the line.
    func write(_ text: String) { state.withLock { output.draw(erasing(&$0) + text) } }

    /// Draws a line, cut to the width of the terminal; nil removes it.
    func draw(_ line: (_ columns: Int) -> String?) {
        guard isTerminal, let columns = output.columns else { return }
        // Not under the lock, because it may say something.
        let fitted = line(columns).map { Self.fitting(Sanitized.line($0), in: columns - 1) }
        state.withLock { state in
            guard !state.isEnded else { return }
            let erased = erasing(&state)
            guard fitted != nil || !erased.isEmpty else { return }
            state.isDrawn = fitted != nil
            // The cursor stays at the beginning, where it still is after the terminal was resized.
            output.draw(erased + (fitted.map { $0 + "\r" } ?? ""))
        }
    }

    /// Draws a line at intervals until the task is cancelled, then removes it.
    func redraw(_ line: @Sendable (_ columns: Int) -> String?) async {
        guard isTerminal else { return }
        while (try? await ContinuousClock().sleep(for: Self.interval)) != nil { draw(line) }
        end()
    }

    /// Removes the line, after which none is drawn.
    func end() {
        state.withLock { state in
            state.isEnded = true
            output.draw(erasing(&state))
        }
    }

    /// The beginning of a text that fits into a number of columns.
    static func fitting(_ text: String, in columns: Int) -> String {
        var width = 0
        for index in text.indices {
            width += Self.width(of: text[index])
            guard width <= columns else { return String(text[..<index]) }
        }
        return text
    }

    /// The columns of a character: two for those of East Asian scripts and for most symbols.
    private static func width(of character: Character) -> Int {
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F9FF, 0x20000...0x3FFFD,
        ]
        guard let scalar = character.unicodeScalars.first else { return 0 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The characters that remove the line, however many rows it takes in a terminal that has become narrower since.
    ///
    /// The rows below are cleared from the second column on, since tmux keeps a screen that is cleared from its first
    /// character in its history, from where the line comes back when the terminal grows.
    private func erasing(_ state: inout State) -> String {
        defer { state.isDrawn = false }
        return state.isDrawn ? "\r\u{1B}[K\u{1B}[C\u{1B}[J\r" : ""
    }
}
