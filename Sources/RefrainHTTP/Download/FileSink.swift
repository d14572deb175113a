#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file that appears under its name only when it is whole.
///
/// Bytes go into a hidden file beside the target. ``finish()`` moves it into place; a sink that is let go
/// before that removes it. So whatever happens, the file under the name is whole or the one from before. A link stays,
/// and the file appears where it leads.
public final class FileSink: DownloadSink {
    /// The path that the file will have.
    public let path: String

    /// Where the file goes: ``path``, unless that is a link.
    private let target: String
    private let state: Locked<State>

    /// The permissions that new files of this process lack.
    ///
    /// They can only be read by setting them, so it is done once.
    private static let mask: mode_t = {
        let mask = umask(0)
        umask(mask)
        return mask
    }()

    private struct State {
        var descriptor: Int32
        var temporaryPath: String
    }

    /// Creates the hidden file.
    ///
    /// - Throws: ``LocalFileError`` where the folder does not exist or cannot be written, or where something is there
    ///   that is no file, as a folder, a device or a pipe.
    public init(path: String) throws(LocalFileError) {
        self.path = path
        let place = try FilePlace(path)
        let target = place.path
        self.target = target
        let slash = target.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(target[...$0]) } ?? ""
        let name = slash.map { String(target[target.utf8.index(after: $0)...]) } ?? target
        // Names may be as long as the file system allows, in bytes; the hidden one is longer, so it is cut.
        var template = Array("\(folder).\(Self.beginning(of: name)).XXXXXX.part".utf8CString)
        let descriptor = mkstemps(&template, 5)
        guard descriptor >= 0 else { throw LocalFileError(path: path, operation: .create, errno: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if let status = place.present {
            // The one that is replaced keeps its owner, as far as the system allows, and who may read it: it may be
            // somebody's secret. The owner goes first, so that nobody is let in for a moment.
            if fchown(descriptor, status.st_uid, status.st_gid) != 0 {
                _ = fchown(descriptor, uid_t.max, status.st_gid)
            }
            fchmod(descriptor, status.st_mode & 0o777)
        } else {
            // mkstemp makes files that only their owner can read; a download is an ordinary file.
            fchmod(descriptor, 0o666 & ~Self.mask)
        }
        let temporaryPath = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        state = Locked(State(descriptor: descriptor, temporaryPath: temporaryPath))
    }

    /// As much of a name as takes up to 100 bytes.
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
                throw LocalFileError(path: path, operation: .write, errno: errno)
            }
        }
    }

    /// Moves the file to its name, in place of one that is there.
    ///
    /// - Throws: ``LocalFileError``; the hidden file is removed then.
    public func finish() throws(LocalFileError) {
        let (descriptor, temporaryPath) = state.withLock { state in
            defer { state.descriptor = -1 }
            return (state.descriptor, state.temporaryPath)
        }
        guard descriptor >= 0 else { return }
        guard close(descriptor) == 0 else {
            unlink(temporaryPath)
            throw LocalFileError(path: path, operation: .write, errno: errno)
        }
        guard rename(temporaryPath, target) == 0 else {
            let reason = errno
            unlink(temporaryPath)
            throw LocalFileError(path: path, operation: .move, errno: reason)
        }
    }

    /// Removes the hidden file, unless it was moved to its name.
    public func discard() {
        let (descriptor, temporaryPath) = state.withLock { state in
            defer { state.descriptor = -1 }
            return (state.descriptor, state.temporaryPath)
        }
        guard descriptor >= 0 else { return }
        close(descriptor)
        unlink(temporaryPath)
    }

    private func append(_ bytes: [UInt8]) throws(LocalFileError) {
        let failure: LocalFileError? = state.withLock { state in
            bytes.withUnsafeBytes { buffer in
                var rest = buffer[...]
                while !rest.isEmpty {
                    let count = systemWrite(state.descriptor, UnsafeRawBufferPointer(rebasing: rest))
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return LocalFileError(path: path, operation: .write, errno: errno) }
                    rest = rest.dropFirst(count)
                }
                return nil
            }
        }
        if let failure { throw failure }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
