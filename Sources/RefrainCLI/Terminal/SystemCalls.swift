// SPDX-License-Identifier: Apache-2.0
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

/// A failed system call: its purpose and its error number.
struct SystemError: Error, Hashable, CustomStringConvertible {
    let what: String
    let code: Int32

    /// What failed and why.
    var description: String { "\(what): \(systemText(code))" }
    /// The error number of an existing file.
    static let fileExists = EEXIST
    /// Whether the reader has closed the pipe.
    var isBrokenPipe: Bool { code == EPIPE }
}

/// Writes all bytes to a file, at an offset or at its position; false on failure, with the error number in `errno`.
func systemWriteAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64? = nil) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let base = UnsafeRawBufferPointer(rebasing: rest).baseAddress
        let count =
            if let offset {
                pwrite(descriptor, base, rest.count, off_t(offset) + off_t(bytes.count - rest.count))
            } else {
                write(descriptor, base, rest.count)
            }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}

/// Passes the first bytes of a file to a closure, in pieces; false on failure, with the error number in `errno`.
///
/// Fails with `EINTR` if the task was cancelled.
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
                // The file is shorter than the number of bytes written to it.
                if count == 0 { errno = EIO }
                return false
            }
            body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
        return true
    }
}

/// Gives a file another name; -1 on failure, with the error number in `errno`.
func systemRename(_ path: String, _ target: String) -> Int32 { rename(path, target) }
