// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A descriptor for writing: a file, a terminal, or a pipe whose reader may be slow or closed.
final class Output: Sendable {
    /// Standard output.
    static let standard = Output(descriptor: STDOUT_FILENO, name: "standard output")
    /// Standard error.
    static let error = Output(descriptor: STDERR_FILENO, name: "standard error")

    private let descriptor: Int32
    private let name: String
    private let isOwned: Bool
    /// Whether a write may block without a limit.
    private let mayBlock: Bool
    /// Whether the file did not exist before.
    private let isNew: Bool
    /// The same pipe, opened again in non-blocking mode; -1: none.
    ///
    /// Non-blocking mode of the descriptor itself would affect every process that shares it.
    private let direct: Int32
    private let lastByte = Locked(UInt8(ascii: "\n"))

    private init(descriptor: Int32, name: String, isOwned: Bool = false, isNew: Bool = false) {
        self.descriptor = descriptor
        self.name = name
        self.isOwned = isOwned
        self.isNew = isNew
        var status = stat()
        mayBlock = fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFREG
        #if os(Linux)
        if status.st_mode & S_IFMT == S_IFIFO, fcntl(descriptor, F_GETFL) & O_ACCMODE == O_WRONLY {
            direct = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            // The maximum of every user (pipe(7)); a smaller pipe works as well.
            if direct >= 0 { _ = fcntl(direct, Self.setPipeSize, 1 << 20) }
        } else {
            direct = -1
        }
        #else
        direct = -1
        #endif
    }

    /// Opens a file for writing: a new and empty one, or a device.
    convenience init(path: String) throws(SystemError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw SystemError(what: "cannot write \(path)", code: errno) }
        self.init(descriptor: descriptor, name: path, isOwned: true)
    }

    /// The output of a path: an inherited descriptor, or a file, which is opened without emptying it.
    static func named(_ path: String) throws(SystemError) -> Output {
        if let given = given(path) {
            let mode = fcntl(given.descriptor, F_GETFL)
            guard mode >= 0, mode & (O_WRONLY | O_RDWR) != 0 || !given.isFurther else {
                throw SystemError(what: "cannot write \(path)", code: EBADF)
            }
            return given
        }
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC
        let made = open(path, flags | O_EXCL, 0o666)
        let descriptor = made >= 0 ? made : open(path, flags, 0o666)
        guard descriptor >= 0 else { throw SystemError(what: "cannot write \(path)", code: errno) }
        return Output(descriptor: descriptor, name: path, isOwned: true, isNew: made >= 0)
    }

    /// Writes a file atomically: a reader sees the old or the new content, also after a crash.
    ///
    /// A new file can be read only by its owner. A file that no other one can replace, because of its folder or because
    /// it is a mount point, is overwritten. An output that the process was given is written to.
    static func replace(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        if let given = given(path) { return try given.write(bytes) }
        var status = stat()
        let isThere = stat(path, &status) == 0
        guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
            return try overwrite(path, with: bytes, size: 0)
        }
        do throws(HTTPBody.FileError) {
            let file = try Download.FileSink(privateFile: path)
            try file.append(bytes)
            try file.finish()
        } catch {
            guard isThere, [EACCES, EPERM, EROFS, EBUSY].contains(error.errno) else {
                throw SystemError(what: "cannot write \(path)", code: error.errno)
            }
            try overwrite(path, with: bytes, size: Int(status.st_size))
        }
    }

    /// Writes over a file of a size, or to a device, which has none.
    private static func overwrite(_ path: String, with bytes: [UInt8], size: Int) throws(SystemError) {
        func failure(_ code: Int32 = errno) -> SystemError { SystemError(what: "cannot write \(path)", code: code) }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let code = bytes.withUnsafeBytes { bytes -> Int32 in
            guard isFile else { return systemWriteAll(descriptor, bytes) ? 0 : errno }
            // What needs more space is written first: where there is none, the old content is still whole.
            let middle = min(size, bytes.count)
            guard systemWriteAll(descriptor, UnsafeRawBufferPointer(rebasing: bytes[middle...]), at: Int64(middle))
            else {
                let code = errno
                return ftruncate(descriptor, off_t(size)) == 0 ? code : errno
            }
            let isWritten = systemWriteAll(descriptor, UnsafeRawBufferPointer(rebasing: bytes[..<middle]), at: 0)
            return isWritten && ftruncate(descriptor, off_t(bytes.count)) == 0 ? 0 : errno
        }
        guard close(descriptor) == 0 || code != 0 else { throw failure() }
        guard code == 0 else { throw failure(code) }
    }

    /// Why ``replace(_:with:)`` will fail; nil where nothing is known against it.
    static func obstacle(toReplacing path: String) -> SystemError? {
        func fail(_ code: Int32) -> SystemError { SystemError(what: "cannot write \(path)", code: code) }
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT, let target = try? Directory.resolved(path) else { return fail(errno) }
            let folder = Directory.above(target)
            return access(folder.isEmpty ? "." : folder, W_OK | X_OK) == 0 ? nil : fail(errno)
        }
        if status.st_mode & S_IFMT == S_IFDIR { return fail(EISDIR) }
        return access(path, W_OK) == 0 || Directory.obstacle(toWritingInto: Directory.above(path)) == nil
            ? nil : fail(EACCES)
    }

    /// Empties a file that was opened by its name; inherited descriptors and devices are not changed.
    func empty() throws(SystemError) {
        guard isOwned, !mayBlock, ftruncate(descriptor, 0) != 0 else { return }
        throw SystemError(what: "cannot write \(name)", code: errno)
    }

    /// Removes a file that did not exist before and that nothing was written to.
    func withdraw() { if isNew { unlink(name) } }

    /// The inherited descriptor of a path, such as /dev/stdout; nil for other paths.
    ///
    /// Opening such a path would open the file again and empty it.
    static func given(_ path: String) -> Output? {
        switch descriptor(path) {
        case nil: nil
        case STDOUT_FILENO: .standard
        case STDERR_FILENO: .error
        case let number?: Output(descriptor: number, name: path)
        }
    }

    /// The descriptor that a path names, directly or by links, if it is open.
    static func descriptor(_ path: String) -> Int32? {
        var location = path == "-" ? "/dev/stdout" : path
        for _ in 0...40 {
            if let number = number(location) { return fcntl(number, F_GETFD) < 0 ? nil : number }
            guard let target = Directory.link(location) else { return nil }
            location = target.hasPrefix("/") ? target : Directory.above(location) + target
        }
        return nil
    }

    private static func number(_ path: String) -> Int32? {
        switch path {
        case "/dev/stdin": return STDIN_FILENO
        case "/dev/stdout": return STDOUT_FILENO
        case "/dev/stderr": return STDERR_FILENO
        default:
            let folder = ["/dev/fd/", "/proc/self/fd/"].first { path.hasPrefix($0) }
            guard let digits = folder.map({ path.dropFirst($0.count) }) else { return nil }
            return digits.utf8.allSatisfy { (48...57).contains($0) } ? Int32(digits) : nil
        }
    }

    /// Whether it is not one of the standard ones, to which a write may fail.
    private var isFurther: Bool { descriptor > STDERR_FILENO }

    /// `F_SETPIPE_SZ`, which the C library's headers only name for programs that ask for GNU's extensions.
    private static let setPipeSize: Int32 = 1031

    deinit {
        if isOwned { close(descriptor) }
        if direct >= 0 { close(direct) }
    }

    /// Whether this is a terminal.
    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// The columns of the terminal, or nil.
    var columns: Int? {
        var size = winsize()
        guard isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Whether what was written last ends a line.
    var endsLine: Bool { lastByte.withLock { $0 } == UInt8(ascii: "\n") }

    /// Writes all bytes.
    ///
    /// A slow reader is waited for in small steps, so that a cancelled task does not block.
    ///
    /// - Throws: ``SystemError``; with `EINTR` if the task was cancelled.
    func write(_ bytes: [UInt8]) throws(SystemError) {
        if let last = bytes.last { lastByte.withLock { $0 = last } }
        var offset = 0
        let isStepped = mayBlock && direct < 0
        while offset < bytes.count {
            let step = isStepped ? min(bytes.count - offset, 4096) : bytes.count - offset
            if isStepped { try waitUntilWritable() }
            let written = bytes.withUnsafeBytes { buffer -> Int in
                guard let base = buffer.baseAddress else { return 0 }
                return systemWrite(direct >= 0 ? direct : descriptor, base + offset, step)
            }
            if written >= 0 {
                offset += written
            } else if errno == EAGAIN, direct >= 0 {
                try waitUntilWritable()
            } else if errno != EINTR, errno != EAGAIN {
                throw SystemError(what: "cannot write \(name)", code: errno)
            }
        }
    }

    /// Writes text, and ignores a closed reader.
    ///
    /// Replaces control characters, because parts of the text may come from a server.
    func show(_ text: String) { draw(Sanitized.plain(text)) }

    /// Writes text that may contain control characters, and ignores a closed reader.
    func draw(_ text: String) { try? write(Array(text.utf8)) }

    private func waitUntilWritable() throws(SystemError) {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // A writable pipe takes up to 4,096 bytes without blocking (POSIX: PIPE_BUF).
        while poll(&request, 1, 50) == 0 {
            guard !Task.isCancelled else { throw SystemError(what: "cannot write \(name)", code: EINTR) }
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
