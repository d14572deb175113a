// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A file, or a folder, of a test's own.
struct ScratchFile {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "refrain-cli-tests-\(geteuid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: UUID().uuidString).path()
    }

    init(_ text: String) throws {
        try self.init()
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    /// A pipe with a name.
    static func pipe() throws -> ScratchFile {
        let pipe = try ScratchFile()
        try #require(mkfifo(pipe.path, 0o600) == 0)
        return pipe
    }

    /// Opens a pipe for writing, which waits for a reader, and writes a text into it.
    func openAndWrite(_ text: String) async -> Int32 {
        await Executable.Running.onThread { [path] in
            signal(SIGPIPE, SIG_IGN)
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            _ = Array(text.utf8).withUnsafeBytes { systemWrite(descriptor, $0) }
            return descriptor
        }
    }

    /// Writes a text into a pipe, which waits for a reader, and closes it.
    func write(_ text: String) async { close(await openAndWrite(text)) }

    /// Ends all waits for the other end of a pipe.
    func release() { close(open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)) }

    /// Reads a pipe to its end, which waits for a writer.
    func read() async -> String {
        await Executable.Running.onThread { [path] in
            Executable.Running.text(of: open(path, O_RDONLY | O_CLOEXEC))
        }
    }

    /// The bytes that a text in Base64 stands for.
    static func decoded(base64: String) -> [UInt8] { Data(base64Encoded: base64).map { [UInt8]($0) } ?? [] }

    /// What it holds; Foundation is not asked to read a file that is empty, since it leaks its buffer then.
    func bytes() throws -> [UInt8] {
        guard try FileChunks(path: path).length > 0 else { return [] }
        return Array(try Data(contentsOf: URL(filePath: path)))
    }

    /// Who may do what with it, such as 0o600.
    var mode: mode_t {
        get {
            var status = stat()
            return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
        }
        nonmutating set { chmod(path, newValue) }
    }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? [] }
    /// The files below a folder, without those that keep the state of a list.
    var files: [String] {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        return all.filter { name in
            var status = stat()
            let isFile = stat("\(path)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            return isFile && !name.hasPrefix(".refrain.sqlite")
        }.sorted()
    }
    /// A file below a folder.
    func file(_ name: String) -> ScratchFile { ScratchFile(path: "\(path)/\(name)") }

    fileprivate init(path: String) { self.path = path }

    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

extension ScratchFile {
    /// A file at a path.
    static func at(_ path: String) -> ScratchFile { ScratchFile(path: path) }

    /// Writes a text into the file.
    func overwrite(_ text: String) async throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    /// Writes bytes into the file.
    func write(bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: path)) }
}

extension ScratchFile {
    /// Makes the folder.
    func makeFolder() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// When it was changed last, in seconds since 1970.
    var modified: Int {
        var status = stat()
        guard stat(path, &status) == 0 else { return -1 }
        #if canImport(Darwin)
        return status.st_mtimespec.tv_sec
        #else
        return status.st_mtim.tv_sec
        #endif
    }
}
