// SPDX-License-Identifier: Apache-2.0
internal import Refrain

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
    /// Whether it is a pipe or a device that may never end.
    private let isBounded: Bool
    private let isDevice: Bool
    private let start = ContinuousClock.now
    private var count = 0
    private var isReading = false

    /// Whether standard input is read: what reads it as well would find it empty.
    private static let isStandardInputRead = Locked(false)

    /// How long a bounded pipe or device may take; nil: it may be silent for a minute at a time.
    private static let timeLimit = Locked<Duration?>(nil)
    private static let longestSilence = Duration.seconds(60)
    /// How many bytes are taken from a bounded device.
    private static let deviceLimit = 64 << 20

    /// Sets how long a bounded pipe or device may take.
    static func limit(to time: Duration?) { timeLimit.withLock { $0 = time } }

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameter isBounded: whether a pipe without a writer, and a device without an end, are errors in time.
    init(path: String, isBounded: Bool = false) throws(SystemError) {
        isOwned = path != "-"
        name = isOwned ? path : "standard input"
        // A pipe without a writer would block.
        let blocking = isBounded ? O_NONBLOCK : 0
        descriptor = isOwned ? open(path, O_RDONLY | O_CLOEXEC | blocking) : STDIN_FILENO
        self.isBounded = isBounded && isOwned
        guard descriptor >= 0 else { throw SystemError(what: "cannot read \(path)", code: errno) }
        var status = stat()
        let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : S_IFCHR
        isDevice = kind == S_IFCHR
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
        if !isReading, !isOwned {
            let isRead = Self.isStandardInputRead.withLock { isRead in
                defer { isRead = true }
                return isRead
            }
            guard !isRead else {
                throw SystemError(what: "cannot read standard input, which another option reads", code: EBUSY)
            }
        }
        isReading = true
        try waitUntilReadable()
        var failure: Int32 = 0
        let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            guard let base = buffer.baseAddress else { return }
            var read: Int
            repeat { read = systemRead(descriptor, base, buffer.count) } while read < 0 && errno == EINTR
            if read < 0 { failure = errno }
            count = max(0, read)
        }
        guard failure == 0 else { throw SystemError(what: "cannot read \(name)", code: failure) }
        count += chunk.count
        guard !isBounded || !isDevice || count <= Self.deviceLimit else {
            throw SystemError(what: "cannot read \(name), which has no end", code: EFBIG)
        }
        return chunk.isEmpty ? nil : chunk
    }

    /// Waits for data; also works if another process has made the descriptor non-blocking.
    private func waitUntilReadable() throws(SystemError) {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard isBounded, fileSize == nil else {
            while poll(&request, 1, -1) < 0, errno == EINTR {}
            return
        }
        let limit = Self.timeLimit.withLock { $0 }
        let end = limit.map { start + $0 } ?? .now + Self.longestSilence
        while true {
            let left = ContinuousClock.now.duration(to: end)
            let milliseconds = Int32(
                clamping: left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
            )
            let isReady = left > .zero ? poll(&request, 1, max(1, milliseconds)) : 0
            if isReady > 0 { return }
            guard isReady < 0, errno == EINTR else {
                guard left <= .zero else { continue }
                throw SystemError(what: "cannot read \(name), which does not end", code: ETIMEDOUT)
            }
        }
    }

    /// The rest, up to a little more than a number of bytes; there may be more then.
    func rest(upTo limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= limit, let chunk = try next() { bytes += chunk }
        return bytes
    }

    /// Everything that is left.
    ///
    /// - Throws: ``SystemError``, also if there are more bytes than `limit`.
    func rest(limit: Int = .max) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try next() {
            guard bytes.count + chunk.count <= limit else {
                throw SystemError(what: "cannot read \(name), which is longer than \(limit >> 20) MiB", code: EFBIG)
            }
            bytes += chunk
        }
        return bytes
    }

    /// The most that a file with settings has: logins, fields, certificates.
    static let settingsLimit = 16 << 20

    /// The bytes of a file that an option names.
    static func contents(_ path: String, _ option: String) throws(UsageError) -> [UInt8] {
        do {
            let isBody = ["--data", "--json", "--form", "--url-query"].contains(where: option.hasPrefix)
            return try Input(path: path, isBounded: true).rest(limit: isBody ? 1 << 30 : settingsLimit)
        } catch {
            throw UsageError("\(option): \(error)")
        }
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
