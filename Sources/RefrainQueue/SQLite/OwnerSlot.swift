// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The byte of the file `STATE-lock` that a process holds as long as it lives: its lease on what it has claimed.
///
/// The system releases the lock when the process ends, however it ends, so no clock is involved: what a dead process
/// has claimed is free at once. The locks belong to the open file, not to the process, so that two queues of one
/// process have two slots.
final class OwnerSlot {
    /// The number of the byte.
    let number: Int
    /// The slot and the process, as a row names its owner.
    let owner: String
    private let descriptor: Int32

    /// The most processes that can work on one file.
    private static let limit = 1024

    /// Takes the first free slot.
    init(besides path: String) throws(QueueError) {
        let file = path + "-lock"
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            let kind: QueueError.Code = [EACCES, EROFS, EPERM].contains(code) ? .readOnly : .cannotOpen
            throw QueueError(kind, "cannot write \(file): \(systemText(code))")
        }
        self.descriptor = descriptor
        for number in 0..<Self.limit {
            var lock = Self.lock(of: number)
            guard fcntl(descriptor, Self.set, &lock) != 0 else {
                self.number = number
                owner = "\(number)/\(getpid())"
                return
            }
            guard errno == EACCES || errno == EAGAIN else {
                let text = systemText(errno)
                close(descriptor)
                throw QueueError(.cannotOpen, "cannot lock \(file): \(text)")
            }
        }
        close(descriptor)
        throw QueueError(.busy, "\(Self.limit) processes are using \(path)")
    }

    deinit { close(descriptor) }

    /// Whether the process that a row names as its owner has ended.
    func isDead(_ owner: String) -> Bool {
        guard owner != self.owner, let number = owner.split(separator: "/").first.flatMap({ Int($0) }) else {
            return false
        }
        var lock = Self.lock(of: number)
        return fcntl(descriptor, Self.get, &lock) == 0 && Int32(lock.l_type) == Int32(F_UNLCK)
    }

    private static func lock(of number: Int) -> flock {
        var lock = flock()
        lock.l_type = .init(F_WRLCK)
        lock.l_whence = .init(SEEK_SET)
        lock.l_start = .init(number)
        lock.l_len = 1
        return lock
    }

    // The locks of an open file (F_OFD_…), whose names the C library shows to GNU sources alone.
    #if canImport(Darwin)
    private static let (set, get): (Int32, Int32) = (90, 92)
    #else
    private static let (set, get): (Int32, Int32) = (37, 36)
    #endif
}
