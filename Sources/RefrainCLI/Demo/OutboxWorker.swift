// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Refrain
internal import RefrainQueue

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A process that sends the orders of the demonstration's outbox: the command itself, with a word that no help names.
struct OutboxWorker {
    /// How many orders it has in flight.
    static let concurrency = 4
    private static let word = "outbox-worker"

    private let path: String
    private let name: String

    /// Reads the words of such a process; nil: it is none.
    init?(_ words: [String]) {
        guard words.count == 3, words[0] == Self.word else { return nil }
        (path, name) = (words[1], words[2])
    }

    /// Sends what is in the outbox until a signal ends it.
    func run() async throws -> ExitStatus {
        Signals.beginWork()
        // The process that has started it may be gone: in 20 s the system ends this one.
        alarm(20)
        var configuration = CurlLoader.Configuration()
        // By which the server tells the two apart.
        configuration.userAgent = name
        let loader = Retry(.recommended, budgets: nil) --> (try CurlLoader(configuration: configuration))
        try await RequestQueue(.sqlite(path)).worker(on: loader, concurrency: Self.concurrency).run()
        return .success
    }

    /// The process, as the one that starts it has it.
    final class Process: Sendable {
        private struct State {
            let pid: pid_t
            /// Whether it has ended, so that another process may have its number.
            var isOver = false
        }

        private let state: Locked<State>
        /// Its status, or minus the signal that has ended it, once.
        private let endings: AsyncStream<Int32>

        /// Starts it; `onEnd` is called when it has ended.
        init(_ path: String, name: String, onEnd: @escaping @Sendable () -> Void) throws(SystemError) {
            #if os(Linux)
            // Also where the file has another name by now.
            let program = "/proc/self/exe"
            #else
            let program = CommandLine.arguments[0]
            #endif
            let words = ["refrain", "demo", OutboxWorker.word, path, name]
            let pointers = words.map { strdup($0) }
            defer { for pointer in pointers { free(pointer) } }
            var pid = pid_t()
            let code = posix_spawnp(&pid, program, nil, nil, pointers + [nil], environ)
            guard code == 0 else { throw SystemError(what: "cannot start another process", code: code) }
            let state = Locked(State(pid: pid))
            self.state = state
            let (endings, ending) = AsyncStream.makeStream(of: Int32.self)
            self.endings = endings
            // On a thread of its own, since it blocks.
            DispatchQueue(label: "refrain.process").async { [pid] in
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                state.withLock { $0.isOver = true }
                ending.yield(status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F))
                ending.finish()
                onEnd()
            }
        }

        deinit { signal(SIGKILL) }

        /// Whether it has ended.
        var isOver: Bool { state.withLock { $0.isOver } }

        /// Sends it a signal.
        func signal(_ number: Int32) {
            state.withLock { state in
                if !state.isOver { kill(state.pid, number) }
            }
        }

        /// Waits for its end; returns its status, or minus the signal that has ended it.
        func end() async -> Int32? { await endings.first { _ in true } }
    }
}
