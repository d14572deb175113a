// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a real shell makes of a command.
enum Shell {
    struct Failed: Error { var code: Int32 }

    /// The words that the shell would run the command with.
    static func words(of command: String) throws -> [String] {
        let text = try run("for word in \(command)\ndo printf '%s\\0' \"$word\"; done")
        return text.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Runs a script that ends by itself, and returns what it has written: less than a pipe holds.
    private static func run(_ script: String) throws -> [UInt8] {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failed(code: errno) }
        defer { close(ends[0]) }
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var child = pid_t()
        let words: [String] = ["/bin/sh", "-c", script]
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { word in strdup(word) }
        defer { for argument in arguments { free(argument) } }
        let code = posix_spawn(&child, "/bin/sh", &actions, nil, arguments + [nil], environ)
        close(ends[1])
        guard code == 0 else { throw Failed(code: code) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw Failed(code: status) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(ends[0], &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }
}
