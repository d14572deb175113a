// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension Download {
    /// A file that is written atomically: it appears at its path complete or not at all.
    ///
    /// Bytes are written to a file without a name, which a process leaves nowhere that is killed. Where the file system
    /// has none, they are written to a hidden file in the same folder. ``finish()`` gives the file its name;
    /// deallocating the sink before that removes the file. A symbolic link is kept, and its target is replaced.
    public final class FileSink: Sink {
        /// The path of the file.
        public let path: String

        /// The path to rename to: ``path`` with symbolic links resolved.
        private let target: String
        /// What a hidden name begins with.
        private var stem: String { Self.stem(target) }
        private let state: Locked<State>

        private struct State {
            var descriptor: Int32
            /// The hidden name; nil while the file has none.
            var temporaryPath: String?
        }

        /// Creates the file, without a name or with a hidden one.
        ///
        /// - Throws: ``HTTPBody/FileError`` if the folder does not exist or is not writable, or if the path is a
        ///   folder, a device, a pipe or anything else but a regular file.
        public convenience init(path: String) throws(HTTPBody.FileError) {
            try self.init(path: path, withoutName: true)
        }

        /// Creates a file for a path at which there is nothing, which is not checked.
        ///
        /// A file that is created there before the end is replaced by ``finish()``, and kept by ``finish(asNew:)``.
        ///
        /// - Throws: ``HTTPBody/FileError`` if the file cannot be created.
        public convenience init(newFile path: String) throws(HTTPBody.FileError) {
            try self.init(path: path, withoutName: true, isNew: true)
        }

        /// Creates the file, which only its owner can read unless it replaces one that others can read.
        ///
        /// - Throws: ``HTTPBody/FileError`` as ``init(path:)``.
        package convenience init(privateFile path: String) throws(HTTPBody.FileError) {
            try self.init(path: path, withoutName: true, isPrivate: true)
        }

        /// Creates the file, with a hidden name at once unless it may be without one.
        init(
            path: String,
            withoutName: Bool,
            isNew: Bool = false,
            isPrivate: Bool = false
        ) throws(HTTPBody.FileError) {
            self.path = path
            let resolved = isNew ? ResolvedFilePath(newFile: path) : try ResolvedFilePath(path)
            let target = resolved.path
            self.target = target
            // The system takes the process's umask away. To read the umask is to change it, for all threads.
            let mode: mode_t = resolved.present == nil && !isPrivate ? 0o666 : 0o600
            let descriptor: Int32
            if withoutName, let unnamed = UnnamedFile.open(in: Self.folder(of: target), mode: mode) {
                descriptor = unnamed
                state = Locked(State(descriptor: unnamed))
            } else {
                let named = try Self.named(Self.stem(target), path, mode)
                descriptor = named.descriptor
                state = Locked(named)
            }
            guard let status = resolved.present else { return }
            // The new file gets the owner and permissions of the file it replaces, as far as the system allows, because
            // that file may be confidential. The owner is set first, so that the permissions never apply to the wrong
            // owner.
            if fchown(descriptor, status.st_uid, status.st_gid) != 0 {
                _ = fchown(descriptor, uid_t.max, status.st_gid)
            }
            fchmod(descriptor, status.st_mode & 0o777)
        }

        /// The folder of a file, up to its last slash.
        private static func folder(of target: String) -> String {
            // By its memory: as collections, text and its parts take several times as long.
            var target = target
            return target.withUTF8 { bytes in
                bytes.lastIndex(of: UInt8(ascii: "/")).map { String(decoding: bytes[...$0], as: UTF8.self) } ?? ""
            }
        }

        /// What hidden names beside a file begin with.
        private static func stem(_ target: String) -> String {
            let folder = folder(of: target)
            // Names are limited in bytes by the file system, and the hidden name is longer, so the name is shortened.
            return "\(folder).\(beginning(of: String(target.dropFirst(folder.count))))."
        }

        /// Creates a file with a hidden name.
        private static func named(_ stem: String, _ path: String, _ mode: mode_t) throws(HTTPBody.FileError) -> State {
            var result = EEXIST
            for _ in 0..<100 where result == EEXIST {
                let hidden = randomName(stem)
                let descriptor = open(hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
                if descriptor >= 0 { return State(descriptor: descriptor, temporaryPath: hidden) }
                result = errno
            }
            throw HTTPBody.FileError(path: path, operation: .create, errno: result)
        }

        /// A hidden name that probably no file has.
        private static func randomName(_ stem: String) -> String {
            stem + String(UInt64.random(in: 0..<(1 << 40)), radix: 36) + ".part"
        }

        /// Goes on with the hidden file of an earlier sink, of which the first bytes are kept.
        ///
        /// - Parameters:
        ///   - path: the path of the file to make.
        ///   - temporaryPath: the hidden file, see ``detach()``.
        ///   - offset: how many bytes of it are kept.
        /// - Throws: ``HTTPBody/FileError`` if the hidden file is not there, is not a regular file or has fewer bytes.
        package init(path: String, continuing temporaryPath: String, at offset: Int64) throws(HTTPBody.FileError) {
            self.path = path
            target = try ResolvedFilePath(path).path
            let descriptor = open(temporaryPath, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { throw HTTPBody.FileError(path: temporaryPath, operation: .open, errno: errno) }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size >= offset,
                ftruncate(descriptor, off_t(offset)) == 0, lseek(descriptor, 0, SEEK_END) == off_t(offset)
            else {
                close(descriptor)
                throw HTTPBody.FileError(path: temporaryPath, operation: .shrank, errno: 0)
            }
            state = Locked(State(descriptor: descriptor, temporaryPath: temporaryPath))
        }

        /// Closes the hidden file and leaves it in place; returns its path, or nil after ``finish()`` or ``discard()``.
        ///
        /// A file without a name gets a hidden one; nil as well where it cannot.
        package func detach() -> String? {
            let (descriptor, temporaryPath) = state.withLock { state in
                defer { state.descriptor = -1 }
                return (state.descriptor, state.temporaryPath)
            }
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            return temporaryPath ?? (try? hide(descriptor).get())
        }

        /// The longest prefix of a name that takes at most 100 bytes.
        private static func beginning(of name: String) -> String {
            var end = name.startIndex
            for index in name.unicodeScalars.indices {
                let next = name.unicodeScalars.index(after: index)
                guard name.utf8.distance(from: name.startIndex, to: next) <= 100 else { break }
                end = next
            }
            return String(name[..<end])
        }

        deinit { discard() }

        /// Appends bytes.
        public func write(_ bytes: [UInt8]) async throws { try append(bytes) }

        /// Empties the file.
        public func startOver() async throws {
            try state.withLock { state in
                guard ftruncate(state.descriptor, 0) == 0, lseek(state.descriptor, 0, SEEK_SET) == 0 else {
                    throw HTTPBody.FileError(path: path, operation: .write, errno: errno)
                }
            }
        }

        /// Gives the file its path, replacing an existing file.
        ///
        /// - Throws: ``HTTPBody/FileError``, after removing the file.
        public func finish() throws(HTTPBody.FileError) {
            let (descriptor, temporaryPath) = state.withLock { state in
                defer { state.descriptor = -1 }
                return (state.descriptor, state.temporaryPath)
            }
            guard descriptor >= 0 else { return }
            guard let temporaryPath else {
                let failure = publish(descriptor)
                close(descriptor)
                if let failure { throw failure }
                return
            }
            guard close(descriptor) == 0 else {
                unlink(temporaryPath)
                throw HTTPBody.FileError(path: path, operation: .write, errno: errno)
            }
            if let failure = move(temporaryPath) { throw failure }
        }

        /// Renames a file, and replaces nothing.
        ///
        /// - Returns: false if there is something at the new path.
        /// - Throws: ``HTTPBody/FileError``, which names the new path.
        public static func move(_ old: String, toNew new: String) throws(HTTPBody.FileError) -> Bool {
            let result = renameToNew(old, new)
            guard result == 0 || result == EEXIST else {
                throw HTTPBody.FileError(path: new, operation: .move, errno: result)
            }
            return result == 0
        }

        private static func renameToNew(_ old: String, _ new: String) -> Int32 {
            if link(old, new) == 0 {
                unlink(old)
                return 0
            }
            guard errno != EEXIST else { return EEXIST }
            // Some file systems have no links.
            var status = stat()
            guard lstat(new, &status) != 0 else { return EEXIST }
            return rename(old, new) == 0 ? 0 : errno
        }

        /// Gives the file a path in the same folder, and replaces nothing.
        ///
        /// - Returns: false if there is something at the path; then the file can get another one.
        /// - Throws: ``HTTPBody/FileError``, after removing the file.
        public func finish(asNew path: String) throws(HTTPBody.FileError) -> Bool {
            let (descriptor, temporaryPath) = state.withLock { ($0.descriptor, $0.temporaryPath) }
            guard descriptor >= 0 else { return true }
            var result =
                temporaryPath.map { Self.renameToNew($0, path) } ?? UnnamedFile.link(descriptor, to: path)
            guard result != EEXIST else { return false }
            state.withLock { $0.descriptor = -1 }
            if close(descriptor) != 0, result == 0 {
                result = errno
                unlink(path)
            }
            guard result != 0 else { return true }
            if let temporaryPath { unlink(temporaryPath) }
            throw HTTPBody.FileError(path: path, operation: .move, errno: result)
        }

        /// Names a file that has no name; returns why it cannot be done.
        private func publish(_ descriptor: Int32) -> HTTPBody.FileError? {
            let result = UnnamedFile.link(descriptor, to: target)
            guard result == EEXIST else {
                return result == 0 ? nil : HTTPBody.FileError(path: path, operation: .move, errno: result)
            }
            // A link replaces no file, but a rename does: the hidden name is there only in between. A process that is
            // killed then leaves it, and the next one removes it.
            let name = stem + "replacing.part"
            if AbandonedFile.link(descriptor, to: name) { return move(name) }
            switch hide(descriptor) {
            case .success(let hidden): return move(hidden)
            case .failure(let error): return error
            }
        }

        /// Gives a hidden name to a file that has none.
        private func hide(_ descriptor: Int32) -> Result<String, HTTPBody.FileError> {
            var result = EEXIST
            for _ in 0..<100 where result == EEXIST {
                let hidden = Self.randomName(stem)
                result = UnnamedFile.link(descriptor, to: hidden)
                if result == 0 { return .success(hidden) }
            }
            return .failure(HTTPBody.FileError(path: path, operation: .move, errno: result))
        }

        /// Renames the hidden file to the path, or removes it; returns why it cannot be renamed.
        private func move(_ hidden: String) -> HTTPBody.FileError? {
            guard rename(hidden, target) != 0 else { return nil }
            let reason = errno
            unlink(hidden)
            return HTTPBody.FileError(path: path, operation: .move, errno: reason)
        }

        /// Removes the file.
        ///
        /// Does nothing after ``finish()``.
        public func discard() {
            let (descriptor, temporaryPath) = state.withLock { state in
                defer { state.descriptor = -1 }
                return (state.descriptor, state.temporaryPath)
            }
            guard descriptor >= 0 else { return }
            close(descriptor)
            if let temporaryPath { unlink(temporaryPath) }
        }

        /// Hands over the bytes that were written, in pieces, from the first one on.
        public func readBack(_ body: (UnsafeRawBufferPointer) -> Void) throws(HTTPBody.FileError) {
            let descriptor = state.withLock { $0.descriptor }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            var offset: off_t = 0
            while true {
                let count = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, offset) }
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw HTTPBody.FileError(path: path, operation: .read, errno: errno) }
                guard count > 0 else { return }
                buffer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                offset += off_t(count)
            }
        }

        /// Appends bytes; ``write(_:)`` for callers that do not wait.
        package func append(_ bytes: [UInt8]) throws(HTTPBody.FileError) {
            let failure: HTTPBody.FileError? = state.withLock { state in
                bytes.withUnsafeBytes { buffer in
                    var rest = buffer[...]
                    while !rest.isEmpty {
                        let count = systemWrite(state.descriptor, UnsafeRawBufferPointer(rebasing: rest))
                        if count < 0, errno == EINTR { continue }
                        guard count > 0 else { return HTTPBody.FileError(path: path, operation: .write, errno: errno) }
                        rest = rest.dropFirst(count)
                    }
                    return nil
                }
            }
            if let failure { throw failure }
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

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
    static func path(of descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

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
private enum AbandonedFile {
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
