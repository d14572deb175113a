#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

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
