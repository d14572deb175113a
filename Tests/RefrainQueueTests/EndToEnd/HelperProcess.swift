// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RefrainCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// `QueueLoad`, run as a process of its own.
struct HelperProcess {
    let pid: pid_t

    private static let path = folder + "/QueueLoad"
    /// The command itself.
    static let command = folder + "/refrain"

    private static let folder: String = {
        #if os(Linux)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        #else
        let own = CommandLine.arguments[0]
        #endif
        return own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    }()

    /// Starts it, or another program; its output goes to a file, if one is given.
    init(_ arguments: [String], program: String = path, output: String = "/dev/null") throws {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var pid = pid_t()
        let failure = posix_spawn(&pid, program, &actions, nil, words, environ)
        guard failure == 0 else { throw NotStarted(code: failure) }
        self.pid = pid
    }

    func signal(_ number: Int32) { kill(pid, number) }

    /// Waits for its end, and ends it after so many seconds; returns its status, or minus the signal that ended it.
    @discardableResult
    func end(within limit: Int = 60) async -> Int32 {
        // On a thread of its own: this blocks, and the pool has few threads.
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "the end of a process").async { continuation.resume(returning: blockingEnd(limit)) }
        }
    }

    /// As ``end(within:)``, for initializers.
    func blockingEnd(_ limit: Int = 60) -> Int32 {
        var status: Int32 = 0
        let deadline = ContinuousClock.now + .seconds(limit)
        while waitpid(pid, &status, WNOHANG) == 0 {
            if ContinuousClock.now > deadline { kill(pid, SIGKILL) }
            poll(nil, 0, 5)
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    struct NotStarted: Error { let code: Int32 }
}
