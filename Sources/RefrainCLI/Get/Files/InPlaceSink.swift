// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file that no other one can replace, because it is a mount point, as in containers.
///
/// The content is kept in a file without a name until it is complete, and then written over the old one. A failure
/// while it is written leaves a part of it.
final class InPlaceSink: ContentSink {
    private let path: String
    private let descriptor: Int32
    private let state = Locked(State())

    private struct State {
        var size: Int64 = 0
        var isDone = false
    }

    /// - Throws: `HTTPBody.FileError` if the file cannot be written.
    init(path: String) throws(HTTPBody.FileError) {
        self.path = path
        guard access(path, W_OK) == 0 else { throw HTTPBody.FileError(path: path, operation: .write, errno: errno) }
        do throws(SystemError) {
            descriptor = try UnlinkedTemporaryFile.open()
        } catch {
            throw HTTPBody.FileError(path: path, operation: .create, errno: error.code)
        }
    }

    deinit { close(descriptor) }

    var filePath: String? { path }

    /// The message about files that are written so; nil: there are none.
    static func remark(_ destination: Destination) -> String? {
        let paths = destination.destinations.compactMap { destination in
            if case .file(let path) = destination, Directory.isMountPoint(path) { Sanitized.text(path) } else { nil }
        }
        guard !paths.isEmpty else { return nil }
        return "\(paths.joined(separator: ", ")) cannot be replaced, since it is mounted, and is written in place"
    }

    var delivered: Int64 { state.withLock { $0.isDone ? $0.size : 0 } }

    func write(_ bytes: [UInt8]) async throws {
        try state.withLock { state in
            guard bytes.withUnsafeBytes({ systemWriteAll(descriptor, $0, at: state.size) }) else { throw failure() }
            state.size += Int64(bytes.count)
        }
    }

    func startOver() async throws {
        try state.withLock { state in
            guard ftruncate(descriptor, 0) == 0 else { throw failure() }
            state.size = 0
        }
    }

    func finish() throws {
        try state.withLock { state in
            let target = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
            guard target >= 0 else { throw failure() }
            var isWritten = true
            let isRead = systemReadAll(descriptor, state.size) { isWritten = isWritten && systemWriteAll(target, $0) }
            let code = errno
            guard close(target) == 0, isRead, isWritten else { throw failure(code) }
            state.isDone = true
        }
    }

    func readBack(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
        guard systemReadAll(descriptor, state.withLock { $0.size }, body) else { throw failure() }
        return true
    }

    private func failure(_ code: Int32 = errno) -> HTTPBody.FileError {
        HTTPBody.FileError(path: path, operation: .write, errno: code)
    }
}
