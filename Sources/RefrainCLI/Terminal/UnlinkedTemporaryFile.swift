// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file without a name, for content of a pipe that must be read more than once.
enum UnlinkedTemporaryFile {
    /// A path under which the bytes can be read until the process ends.
    ///
    /// - Throws: ``SystemError`` if there is no space, or the system has no such paths.
    static func path(holding bytes: [UInt8]) throws(SystemError) -> String { try path(holding: bytes, and: nil) }

    /// A path under which the bytes and the rest of an input can be read until the process ends.
    static func path(holding bytes: [UInt8], and input: Input?) throws(SystemError) -> String {
        #if os(Linux)
        // It stays open, because the path is valid as long as its descriptor.
        let descriptor = try open()
        let path = "/proc/self/fd/\(descriptor)"
        let output = try Output(path: path)
        try write(bytes, to: output)
        while let chunk = try input?.next() { try write(chunk, to: output) }
        return path
        #else
        throw SystemError(what: "cannot read a pipe more than once", code: ESPIPE)
        #endif
    }

    /// Writes a part, or throws an error that names the folder, since the file has no name.
    private static func write(_ bytes: [UInt8], to output: Output) throws(SystemError) {
        do throws(SystemError) {
            try output.write(bytes)
        } catch {
            throw SystemError(what: "cannot keep the input in a file in \(folder)", code: error.code)
        }
    }

    private static var folder: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

    /// Makes a file; returns its descriptor, which is open for reading and writing.
    static func open() throws(SystemError) -> Int32 {
        var template = Array("\(folder)/refrain.XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw SystemError(what: "cannot write into \(folder)", code: errno) }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }
}
