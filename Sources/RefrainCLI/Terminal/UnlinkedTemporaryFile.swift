#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file without a name, for what came through a pipe and has to be read more than once.
enum UnlinkedTemporaryFile {
    /// A path under which the bytes can be read until the process ends.
    ///
    /// - Throws: ``SystemError`` where there is no room for it, or where the system has no such paths.
    static func path(holding bytes: [UInt8]) throws(SystemError) -> String { try path(holding: bytes, and: nil) }

    /// A path under which the bytes, and what is left of an input, can be read until the process ends.
    static func path(holding bytes: [UInt8], and input: Input?) throws(SystemError) -> String {
        #if os(Linux)
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/refrain.XXXXXX".utf8CString)
        // It stays open: the path is no longer than its descriptor is.
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw SystemError(what: "cannot write into \(folder)", code: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        defer { unlink(template) }
        let name = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let output = try Output(path: name)
        try output.write(bytes)
        while let chunk = try input?.next() { try output.write(chunk) }
        return "/proc/self/fd/\(descriptor)"
        #else
        throw SystemError(what: "cannot read a pipe more than once", code: ESPIPE)
        #endif
    }
}
