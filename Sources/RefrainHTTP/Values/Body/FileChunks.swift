#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A local file, opened for one reading; it is as long as it was when it was opened.
package final class FileChunks: @unchecked Sendable {
    // @unchecked Sendable: read by one reader at a time, like any `ChunkSource`.
    private let descriptor: Int32
    private let path: String

    /// The number of bytes that the reading delivers.
    package let length: Int64
    private var left: Int64

    /// Whether all bytes were read.
    package var isAtEnd: Bool { left == 0 }

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - path: where the file is.
    ///   - promised: the length that has been announced; a file that has grown since then is read only that far.
    /// - Throws: ``LocalFileError``, also for a file that is shorter than promised, and for what is no regular file.
    package init(path: String, promised: Int64? = nil) throws(LocalFileError) {
        self.path = path
        // A named pipe that nobody writes to would block the thread that opens it, which serves other requests too.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw LocalFileError(path: path, operation: .open, errno: errno) }
        var status = stat()
        let found = fstat(descriptor, &status) == 0
        let kind = status.st_mode & S_IFMT
        // Pipes, sockets and devices have no length that could be announced, and may have no end.
        guard found, kind == S_IFREG else {
            let reason = !found ? errno : kind == S_IFDIR ? EISDIR : EOPNOTSUPP
            // `deinit` does not run for an object that was never complete.
            close(descriptor)
            throw LocalFileError(path: path, operation: .open, errno: reason)
        }
        let size = Int64(status.st_size)
        guard size >= promised ?? 0 else {
            close(descriptor)
            throw LocalFileError(path: path, operation: .shrank, errno: 0)
        }
        length = promised ?? size
        left = length
    }

    deinit { close(descriptor) }

    /// Reads at most `capacity` bytes into memory of the caller's; 0 at the end.
    ///
    /// - Throws: ``LocalFileError`` where the file cannot be read, or has become shorter.
    package func read(into buffer: UnsafeMutableRawPointer, capacity: Int) throws(LocalFileError) -> Int {
        guard left > 0 else { return 0 }
        let wanted = Int(Swift.min(Int64(capacity), left))
        var count: Int
        repeat { count = systemRead(descriptor, buffer, wanted) } while count < 0 && errno == EINTR
        guard count >= 0 else { throw LocalFileError(path: path, operation: .read, errno: errno) }
        guard count > 0 else { throw LocalFileError(path: path, operation: .shrank, errno: 0) }
        left -= Int64(count)
        return count
    }

    /// The file as a source of chunks of 64 KiB.
    package var source: ChunkSource {
        ChunkSource { [self] in
            var failure: LocalFileError?
            let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                guard let base = buffer.baseAddress else { return }
                do throws(LocalFileError) {
                    count = try read(into: base, capacity: buffer.count)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            return chunk.isEmpty ? nil : chunk
        }
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

/// A local file could not be used.
public struct LocalFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried.
    public enum Operation: String, Hashable, Sendable {
        /// The file was to be opened.
        case open
        /// The file was to be read.
        case read
        /// The file became shorter while it was read.
        case shrank
        /// The file was to be created.
        case create
        /// The file was to be written.
        case write
        /// The file was to be moved to its place.
        case move
    }

    /// The path of the file.
    public let path: String
    /// What was tried.
    public let operation: Operation
    /// The system's number of the error; 0 where there is none.
    public let errno: Int32

    /// Describes a failure.
    public init(path: String, operation: Operation, errno: Int32) {
        self.path = path
        self.operation = operation
        self.errno = errno
    }

    /// What happened to which file.
    public var description: String {
        guard operation != .shrank else { return "\(path) became shorter than it was announced to be" }
        return "cannot \(operation.rawValue) \(path): \(String(cString: strerror(errno)))"
    }

    /// The code that such a failure gives a request.
    public var code: HTTPError.Code {
        switch (operation, errno) {
        case (.create, _): .cannotCreateFile
        case (.write, _): .cannotWriteToFile
        case (.move, _): .cannotMoveFile
        case (_, ENOENT): .fileDoesNotExist
        case (_, EISDIR): .fileIsDirectory
        case (_, EACCES), (_, EPERM): .noPermissionsToReadFile
        default: .cannotOpenFile
        }
    }
}
