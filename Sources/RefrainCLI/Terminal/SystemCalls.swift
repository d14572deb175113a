#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The system's text for a number of an error.
func systemText(_ code: Int32) -> String {
    guard let text = strerror(code) else { return "error \(code)" }
    return String(cString: text)
}

/// A system call that failed: what it was for, and the system's number.
struct SystemError: Error, Hashable, CustomStringConvertible {
    let what: String
    let code: Int32

    /// What failed and why.
    var description: String { "\(what): \(systemText(code))" }
    /// The number for a file that is there already.
    static let fileExists = EEXIST
    /// Whether the reader at the other end has gone.
    var isBrokenPipe: Bool { code == EPIPE }
}

/// Writes all bytes to a file; false where the system refuses, with its number in `errno`.
func systemWriteAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}

/// Writes all bytes to a place of a file; false where the system refuses, with its number in `errno`.
func systemWriteAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
    var rest = bytes[...]
    var offset = offset
    while !rest.isEmpty {
        let count = pwrite(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, off_t(offset))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
        offset += Int64(count)
    }
    return true
}

/// Hands over the first bytes of a file, in pieces; false where they cannot be read, with the number in `errno`.
///
/// Ends early, with `EINTR`, where the task was cancelled.
func systemReadAll(_ descriptor: Int32, _ size: Int64, _ body: (UnsafeRawBufferPointer) -> Void) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 1 << 18, alignment: 16) { buffer in
        var offset: Int64 = 0
        while offset < size {
            guard !Task.isCancelled else {
                errno = EINTR
                return false
            }
            let wanted = Int(min(Int64(buffer.count), size - offset))
            let count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                // A file that is shorter than what was written to it.
                if count == 0 { errno = EIO }
                return false
            }
            body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
        return true
    }
}
