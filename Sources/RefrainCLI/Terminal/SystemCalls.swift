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
