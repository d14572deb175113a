// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A local file, opened for one reading.
///
/// Its length is fixed when it is opened.
package final class FileChunks: @unchecked Sendable {
    // @unchecked Sendable: read by one reader at a time, like any `ChunkSource`.
    private let descriptor: Int32
    private let path: String

    /// The number of bytes to read.
    package let length: Int64
    private var left: Int64

    /// Whether all bytes were read.
    package var isAtEnd: Bool { left == 0 }

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - promised: the length that was announced; a file that has grown since is read only up to that length.
    /// - Throws: ``HTTPBody/FileError`` if the file cannot be opened, is not a regular file, or is shorter than
    ///   announced.
    package init(path: String, promised: Int64? = nil) throws(HTTPBody.FileError) {
        self.path = path
        // Without O_NONBLOCK, opening a named pipe without a writer would block the thread, which serves other requests
        // too.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw HTTPBody.FileError(path: path, operation: .open, errno: errno) }
        var status = stat()
        let found = fstat(descriptor, &status) == 0
        let kind = status.st_mode & S_IFMT
        // Pipes, sockets and devices have no length, and may have no end.
        guard found, kind == S_IFREG else {
            let reason = !found ? errno : kind == S_IFDIR ? EISDIR : EOPNOTSUPP
            // `deinit` does not run for an object whose initializer throws before it is complete.
            close(descriptor)
            throw HTTPBody.FileError(path: path, operation: .open, errno: reason)
        }
        let size = Int64(status.st_size)
        guard size >= promised ?? 0 else {
            close(descriptor)
            throw HTTPBody.FileError(path: path, operation: .shrank, errno: 0)
        }
        length = promised ?? size
        left = length
    }

    deinit { close(descriptor) }

    /// Reads at most `capacity` bytes into the buffer; returns 0 at the end.
    ///
    /// - Throws: ``HTTPBody/FileError`` if the file cannot be read or has become shorter.
    package func read(into buffer: UnsafeMutableRawPointer, capacity: Int) throws(HTTPBody.FileError) -> Int {
        guard left > 0 else { return 0 }
        let wanted = Int(Swift.min(Int64(capacity), left))
        var count: Int
        repeat { count = systemRead(descriptor, buffer, wanted) } while count < 0 && errno == EINTR
        guard count >= 0 else { throw HTTPBody.FileError(path: path, operation: .read, errno: errno) }
        guard count > 0 else { throw HTTPBody.FileError(path: path, operation: .shrank, errno: 0) }
        left -= Int64(count)
        return count
    }

    /// Reads all that is left.
    ///
    /// - Throws: as ``read(into:capacity:)``.
    func remainder() throws(HTTPBody.FileError) -> [UInt8] {
        var failure: HTTPBody.FileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(clamping: left)) { buffer, count in
            guard let base = buffer.baseAddress else { return }
            do throws(HTTPBody.FileError) {
                while !isAtEnd { count += try read(into: base + count, capacity: buffer.count - count) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// A source that reads the file in chunks of 64 KiB.
    package var source: ChunkSource {
        ChunkSource { [self] in
            var failure: HTTPBody.FileError?
            let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                guard let base = buffer.baseAddress else { return }
                do throws(HTTPBody.FileError) {
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

extension HTTPBody {
    /// A failed operation on a local file.
    public struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The operation that failed.
        public enum Operation: String, Hashable, Sendable {
            /// Opening the file.
            case open
            /// Reading the file.
            case read
            /// The file became shorter while it was read.
            case shrank
            /// Creating the file.
            case create
            /// Writing the file.
            case write
            /// Renaming the file to its path.
            case move
        }

        /// The path of the file.
        public let path: String
        /// The operation that failed.
        public let operation: Operation
        /// The system's error number; 0 if there is none.
        public let errno: Int32

        /// Makes an error.
        public init(path: String, operation: Operation, errno: Int32) {
            self.path = path
            self.operation = operation
            self.errno = errno
        }

        /// A sentence that names the file and the failure.
        public var description: String {
            guard operation != .shrank else { return "\(path) became shorter than it was announced to be" }
            // Files do not block; a lock does.
            let reason = errno == EWOULDBLOCK ? "another process writes it" : String(cString: strerror(errno))
            return "cannot \(operation.rawValue) \(path): \(reason)"
        }

        /// The error code of a request that fails because of this error.
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
}
