// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Processes, and what the system says of them.
enum SystemIO {
    /// Memory and descriptors of a process at a moment.
    struct Usage: Sendable {
        /// The resident memory in bytes.
        var memory = 0
        /// The number of open descriptors.
        var descriptors = 0
    }

    /// A process that was started, and its ends of the pipes to it.
    struct Child: Sendable {
        let pid: pid_t
        let input: Int32
        let output: Int32
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The usage of a process; nil when it has ended.
    static func usage(of process: String = "self") -> Usage? {
        guard let status = text("/proc/\(process)/statm"), let folder = opendir("/proc/\(process)/fd") else {
            return nil
        }
        defer { closedir(folder) }
        var usage = Usage()
        // The second number is the resident memory in pages.
        let pages = status.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        usage.memory = pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        while let entry = readdir(folder) {
            if entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { usage.descriptors += 1 }
        }
        // The folder itself.
        if process == "self" { usage.descriptors -= 1 }
        return usage
    }

    /// A small file as text.
    static func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// Starts a program; its standard error is that of this process.
    static func start(_ program: String, _ arguments: [String]) throws(Failure) -> Child {
        var (input, output): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&input) == 0, pipe(&output) == 0 else { throw Failure(description: "no pipes: \(errno)") }
        for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input[0], 0)
        posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var pid = pid_t()
        let result = posix_spawn(&pid, program, &actions, nil, &words, environ)
        close(input[0])
        close(output[1])
        guard result == 0 else { throw Failure(description: "cannot start \(program): \(result)") }
        return Child(pid: pid, input: input[1], output: output[0])
    }

    /// The status of a process that has ended; nil while it runs.
    static func status(of child: Child) -> Int32? {
        var status: Int32 = 0
        return waitpid(child.pid, &status, WNOHANG) == 0 ? nil : status
    }

    /// The first line that a process writes.
    static func firstLine(of child: Child) -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(child.output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Ends a process that ends with its standard input.
    static func end(_ child: Child) {
        close(child.input)
        close(child.output)
        var status: Int32 = 0
        waitpid(child.pid, &status, 0)
    }

    /// Waits for a byte of standard input; false at its end.
    static func readByte() -> Bool {
        var byte: UInt8 = 0
        return read(STDIN_FILENO, &byte, 1) == 1
    }

    static func flush() { fflush(nil) }

    /// Ends the process with a line on standard error, and 1.
    static func fail(_ message: String) -> Never {
        flush()
        let line = Array("soak: \(message)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(1)
    }

    /// The program that runs.
    static var ownPath: String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
#endif
