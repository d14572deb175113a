// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A process that is run to its end, with its output and what it used.
struct Child {
    /// Its standard output.
    let output: String
    /// Its exit status; 128 and more: the signal that ended it.
    let status: Int32
    /// Processor time, of user and system together, in seconds.
    let processorSeconds: Double
    /// Voluntary and involuntary ones together.
    let contextSwitches: Int
    /// The most memory that the process had, or one that it waited for; at least what the runner itself has, about
    /// 23 MB, since the kernel counts from before the program was loaded.
    let peakBytes: Int
    /// From start to end, in seconds.
    let seconds: Double

    /// Runs a program with its arguments; one that takes longer than `limit` seconds is killed.
    static func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        limit: Int = 120,
        silently: Bool = false
    ) throws -> Child {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw BenchFailure("no pipe: \(errorText())") }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let start = ContinuousClock.now
        let pid: pid_t
        do {
            defer { close(ends[1]) }
            pid = try spawn(program, arguments, environment: environment, output: ends[1], silently: silently)
        }
        let deadline = start.advanced(by: .seconds(limit))
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var killed = false
        while true {
            var watched = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            let left = ContinuousClock.now.duration(to: deadline)
            if left <= .zero, !killed {
                kill(pid, SIGKILL)
                killed = true
            }
            let ready = poll(&watched, 1, killed ? 1000 : Int32(min(left.components.seconds + 1, 1000)) * 1000)
            if ready == 0 { continue }
            let count = read(ends[0], &buffer, buffer.count)
            if count <= 0 { break }
            bytes.append(contentsOf: buffer[..<count])
        }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(pid, &status, 0, &usage) < 0, errno == EINTR {}
        let seconds = start.duration(to: .now) / .seconds(1)
        if killed { throw BenchFailure("\(program) took longer than \(limit) seconds and was killed") }
        let signal = status & 0x7F
        return Child(
            output: String(decoding: bytes, as: UTF8.self),
            status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal,
            processorSeconds: Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime),
            contextSwitches: usage.ru_nvcsw + usage.ru_nivcsw,
            peakBytes: usage.ru_maxrss * 1024,
            seconds: seconds
        )
    }

    /// Starts a program, found by PATH, and returns its process id.
    ///
    /// Its output goes to `output`, or to the runner's own standard error where there is none.
    static func spawn(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        output: Int32? = nil,
        silently: Bool = false
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output ?? 2, 1)
        if silently { posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) }
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = inheritedEnvironment(with: environment).map { strdup($0) } + [nil]
        defer {
            for word in words { free(word) }
            for variable in variables { free(variable) }
        }
        var pid = pid_t()
        let result = posix_spawnp(&pid, program, &actions, nil, &words, &variables)
        guard result == 0 else { throw BenchFailure("cannot start \(program): \(String(cString: strerror(result)))") }
        return pid
    }

    private static func inheritedEnvironment(with changes: [String: String]) -> [String] {
        var lines: [String] = []
        var pointer = environ
        while let line = pointer.pointee {
            let text = String(cString: line)
            let name = text.prefix { $0 != "=" }
            if changes[String(name)] == nil { lines.append(text) }
            pointer += 1
        }
        return lines + changes.map { "\($0.key)=\($0.value)" }
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
}

/// Why a benchmark cannot be run; told to the person, then the runner ends.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The error text of the last system call.
func errorText() -> String { String(cString: strerror(errno)) }
