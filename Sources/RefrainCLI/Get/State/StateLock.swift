// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Prevents two processes from using one state; the system releases the lock when the process ends.
final class StateLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock of a state.
    ///
    /// - Throws: ``UsageError`` with the pid of the process that has it.
    init(state path: String, option: String) throws(UsageError) {
        let file = path + "-lock"
        descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw UsageError("\(option): cannot write \(file): \(systemText(errno))") }
        var lock = Self.exclusive
        guard fcntl(descriptor, F_SETLK, &lock) != 0 else { return }
        let code = errno
        let holder = Self.holder(descriptor)
        close(descriptor)
        guard code == EACCES || code == EAGAIN else {
            throw UsageError("\(option): cannot lock \(file): \(systemText(code))")
        }
        let who = holder.map { " (pid \($0))" } ?? ""
        throw UsageError("\(option): another run\(who) is using \(path); wait for it to end, or stop it")
    }

    /// The process that uses a state for a run; nil: none does.
    static func holder(state path: String) -> pid_t? {
        let descriptor = open(path + "-lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return holder(descriptor)
    }

    private static func holder(_ descriptor: Int32) -> pid_t? {
        var lock = exclusive
        return fcntl(descriptor, F_GETLK, &lock) == 0 && Int32(lock.l_type) != Int32(F_UNLCK) ? lock.l_pid : nil
    }

    deinit { close(descriptor) }

    private static var exclusive: flock {
        var lock = flock()
        lock.l_type = .init(F_WRLCK)
        lock.l_whence = .init(SEEK_SET)
        return lock
    }
}
