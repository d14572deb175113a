// SPDX-License-Identifier: Apache-2.0
import RefrainCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The built `refrain`, run as a process of its own.
struct Executable {
    /// What a process left behind.
    struct Ended: Sendable {
        let status: Int32
        let output: [UInt8]
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
        var lines: [String] { text.split(separator: "\n").map(String.init) }
    }

    /// A process that runs.
    struct Running: Sendable {
        let pid: pid_t
        fileprivate let output: Int32
        fileprivate let errors: Int32

        /// Sends a signal.
        func signal(_ number: Int32) { kill(pid, number) }

        /// The first line that it writes.
        func firstLine() async -> String {
            await Self.onThread { [output] in
                var line: [UInt8] = []
                var byte: UInt8 = 0
                while read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
                return String(decoding: line, as: UTF8.self)
            }
        }

        /// The first bytes that it writes, so many of them; fewer where it ends before.
        func bytes(_ count: Int) async -> [UInt8] {
            await Self.onThread { [output] in
                var bytes = [UInt8](repeating: 0, count: count)
                var filled = 0
                while filled < count {
                    let got = bytes[filled...].withUnsafeMutableBytes { read(output, $0.baseAddress, $0.count) }
                    guard got > 0 else { break }
                    filled += got
                }
                return Array(bytes[..<filled])
            }
        }

        /// Closes its output at our end, as a reader does that has enough.
        func stopReading() { close(output) }

        /// Waits for its end, and makes one after so many seconds where it comes to none.
        func end(readingOutput: Bool = true, within limit: Int = 300) async -> Ended {
            async let errors = Self.onThread { [errors] in Self.readAll(errors) }
            async let output = Self.onThread { [output] in readingOutput ? Self.readAll(output) : [] }
            let status = await Self.onThread { [pid] in
                var status: Int32 = 0
                let deadline = ContinuousClock.now + .seconds(limit)
                while waitpid(pid, &status, WNOHANG) == 0 {
                    if ContinuousClock.now > deadline { kill(pid, SIGKILL) }
                    poll(nil, 0, 5)
                }
                // A process that a signal ended has no status of its own.
                return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
            }
            return Ended(status: status, output: await output, errors: String(decoding: await errors, as: UTF8.self))
        }

        /// What is left to read from a descriptor, as text.
        static func text(of descriptor: Int32) -> String { String(decoding: readAll(descriptor), as: UTF8.self) }

        private static func readAll(_ descriptor: Int32) -> [UInt8] {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                bytes += buffer[..<count]
            }
            close(descriptor)
            return bytes
        }

        /// Runs what blocks on a thread of its own, so that no thread of the pool waits.
        static func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
            await withCheckedContinuation { continuation in
                let work = Unmanaged.passRetained(Work { continuation.resume(returning: body()) }).toOpaque()
                #if canImport(Darwin)
                var thread: pthread_t?
                #else
                var thread = pthread_t()
                #endif
                pthread_create(&thread, nil, { Work.run($0) }, work)
                #if canImport(Darwin)
                if let thread { pthread_detach(thread) }
                #else
                pthread_detach(thread)
                #endif
            }
        }
    }

    private final class Work: Sendable {
        private let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }

        static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let pointer else { return nil }
            Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
            return nil
        }
    }

    /// The executable that was built beside these tests.
    static let path: String = {
        #if os(Linux)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        #else
        let own = CommandLine.arguments[0]
        #endif
        let folder = own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return folder + "/refrain"
    }()

    /// Runs it, or another program, to its end.
    static func run(
        _ arguments: [String],
        input: ScratchFile? = nil,
        program: String = path
    ) async throws -> Ended {
        try await start(arguments, input: input, program: program).end()
    }

    /// Runs a program of the system in the locale that each system has: bash and others warn of one that is set but not
    /// installed.
    static func run(_ arguments: [String], inPlainLocale program: String) async throws -> Ended {
        try await run(["LC_ALL=C", program] + arguments, program: "/usr/bin/env")
    }

    /// Where a program of the system lies, or nil where this machine has none of that name.
    static func installed(_ name: String) -> String? {
        ["/usr/bin/", "/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + name }.first {
            access($0, X_OK) == 0
        }
    }

    // A pipe that another process inherits stays open with it, so processes start one after the other.
    private static let starting = Locked(0)

    /// Starts it.
    static func start(_ arguments: [String], input: ScratchFile? = nil, program: String = path) throws -> Running {
        try starting.withLock { started in
            // A state without a size has no address of its own; the thread sanitizer takes the object's head for it.
            started += 1
            return try spawn(arguments, input: input, program: program)
        }
    }

    private static func spawn(_ arguments: [String], input: ScratchFile?, program: String) throws -> Running {
        var (output, errors): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&output) == 0, pipe(&errors) == 0 else { throw NotStarted(code: errno) }
        for end in output + errors { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input?.path ?? "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        posix_spawn_file_actions_adddup2(&actions, errors[1], 2)
        // Resets signals that nohup ignores, so that tested processes do not inherit that.
        #if canImport(Darwin)
        var attributes: posix_spawnattr_t?
        #else
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var taken = sigset_t()
        sigemptyset(&taken)
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { sigaddset(&taken, signal) }
        posix_spawnattr_setsigdefault(&attributes, &taken)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var pid = pid_t()
        let failure = posix_spawn(&pid, program, &actions, &attributes, words, environment(of: program))
        close(output[1])
        close(errors[1])
        guard failure == 0 else { throw NotStarted(code: failure) }
        return Running(pid: pid, output: output[0], errors: errors[0])
    }

    /// The variables for a program: curl keeps to the system's libcurl where the tests run with another one.
    private static func environment(of program: String) -> [UnsafeMutablePointer<CChar>?] {
        var variables: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let variable = next.pointee {
            next += 1
            if !program.hasSuffix("/curl") || strncmp(variable, "LD_LIBRARY_PATH=", 16) != 0 {
                variables.append(variable)
            }
        }
        return variables + [nil]
    }

    struct NotStarted: Error { let code: Int32 }
}
