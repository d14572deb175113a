#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Files without a name: the system removes them with their last descriptor, however the process ends.
package enum UnnamedFile {
    /// Opens one for reading and writing, in a folder on a file system that has them.
    ///
    /// - Parameters:
    ///   - folder: the folder; empty for the current one.
    ///   - mode: its permissions, of which the process's umask is taken away.
    /// - Returns: its descriptor; nil where it cannot be made, or could not be given a name later.
    package static func open(in folder: String, mode: UInt32) -> Int32? {
        #if os(Linux) && (arch(x86_64) || arch(arm64) || arch(arm) || arch(i386))
        // O_TMPFILE, which glibc declares for GNU sources only.
        let unnamed = 0o20_000_000 | O_DIRECTORY
        let descriptor = systemOpen(folder.isEmpty ? "." : folder, unnamed | O_RDWR | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { return nil }
        guard canBeLinked else {
            close(descriptor)
            return nil
        }
        return descriptor
        #else
        return nil
        #endif
    }

    /// A path to an open file, which holds as long as its descriptor.
    package static func path(of descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

    /// Whether `/proc` is there, without which most processes could not link one.
    private static let canBeLinked = access("/proc/self/fd", F_OK) == 0

    /// Gives it a name that no file has yet; returns an error number, 0 for success.
    static func link(_ descriptor: Int32, to path: String) -> Int32 {
        #if os(Linux)
        // AT_EMPTY_PATH, which glibc declares for GNU sources only. It needs no look at /proc, and is refused to
        // processes without privileges before Linux 6.10.
        if linkat(descriptor, "", AT_FDCWD, path, 0x1000) == 0 { return 0 }
        if errno == EEXIST { return EEXIST }
        #endif
        return linkat(AT_FDCWD, self.path(of: descriptor), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno
    }
}

// The function above has the name of this one.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

/// Files that a process has left behind: each one is locked by the process that has made it, for as long as that runs.
enum AbandonedFile {
    /// Gives an open file without a name this name, and takes it from one that was left behind.
    ///
    /// - Returns: false where the name is another process's, or the file system has no locks.
    static func link(_ descriptor: Int32, to path: String) -> Bool {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
        let result = UnnamedFile.link(descriptor, to: path)
        guard result == EEXIST else { return result == 0 }
        return remove(path) && UnnamedFile.link(descriptor, to: path) == 0
    }

    /// Removes a regular file that no process has locked.
    private static func remove(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var (present, locked) = (stat(), stat())
        // With the lock no other process removes it. One that did before has given the name to another file.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &locked) == 0, lstat(path, &present) == 0,
            locked.st_mode & S_IFMT == S_IFREG, locked.st_ino == present.st_ino, locked.st_dev == present.st_dev
        else { return false }
        return unlink(path) == 0
    }
}
