#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file or standard input that is read from beginning to end.
final class Input {
    private let descriptor: Int32
    private let name: String
    private let isOwned: Bool
    /// The size of a file, which can be read again; nil for a pipe, which cannot.
    ///
    /// The size of files of the system (/proc, /sys) is zero or a page, whatever they contain.
    let fileSize: Int64?

    /// Opens a file; `-` is standard input.
    init(path: String) throws(SystemError) {
        isOwned = path != "-"
        name = isOwned ? path : "standard input"
        descriptor = isOwned ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO
        guard descriptor >= 0 else { throw SystemError(what: "cannot read \(path)", code: errno) }
        var status = stat()
        let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : S_IFCHR
        fileSize = kind == S_IFREG ? Int64(status.st_size) : nil
        if kind == S_IFDIR {
            if isOwned { close(descriptor) }
            throw SystemError(what: "cannot read \(path)", code: EISDIR)
        }
    }

    /// Whether a path exists.
    static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether it is open for reading.
    var canBeRead: Bool {
        let flags = fcntl(descriptor, F_GETFL)
        return flags >= 0 && flags & O_ACCMODE != O_WRONLY
    }

    deinit { if isOwned { close(descriptor) } }

    /// The next piece, or nil at the end.
    func next() throws(SystemError) -> [UInt8]? {
        waitUntilReadable()
        var failure: Int32 = 0
        let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            guard let base = buffer.baseAddress else { return }
            var read: Int
            repeat { read = systemRead(descriptor, base, buffer.count) } while read < 0 && errno == EINTR
            if read < 0 { failure = errno }
            count = max(0, read)
        }
        guard failure == 0 else { throw SystemError(what: "cannot read \(name)", code: failure) }
        return chunk.isEmpty ? nil : chunk
    }

    /// Waits for data; also works if another process has made the descriptor non-blocking.
    private func waitUntilReadable() {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&request, 1, -1) < 0, errno == EINTR {}
    }

    /// The rest, up to a little more than a number of bytes; there may be more then.
    func rest(upTo limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= limit, let chunk = try next() { bytes += chunk }
        return bytes
    }

    /// Everything that is left.
    func rest() throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try next() { bytes += chunk }
        return bytes
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

/// Splits a stream of bytes into lines, in linear time also for very long lines.
struct LineBuffer {
    private var pending: [UInt8] = []

    /// Adds a piece, and passes each line that it completes to a closure, without the line feed.
    mutating func take(_ chunk: [UInt8], _ body: ([UInt8]) -> Void) {
        var rest = chunk[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            pending += rest[..<end]
            body(pending)
            pending.removeAll(keepingCapacity: pending.capacity <= 1 << 20)
            rest = rest[(end + 1)...]
        }
        pending += rest
    }

    /// Passes the last line to a closure if it has no line feed.
    mutating func finish(_ body: ([UInt8]) -> Void) {
        guard !pending.isEmpty else { return }
        body(pending)
        pending = []
    }
}
