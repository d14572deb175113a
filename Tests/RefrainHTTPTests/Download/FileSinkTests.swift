// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainHTTP

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

@Suite("Where a download's file goes")
final class FileSinkTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "refrain-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appending(path: name).path() }

    private func kind(of path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    private func write(_ text: String, to path: String) async throws {
        let sink = try Download.FileSink(path: path)
        try await sink.write(Array(text.utf8))
        try sink.finish()
    }

    @Test("a file that replaces nothing takes no name that is there, and then another one", arguments: [false, true])
    func asNew(withoutName: Bool) async throws {
        try await write("old", to: path("file"))
        symlink("nowhere", path("link"))
        let sink = try Download.FileSink(path: path("file"), withoutName: withoutName)
        try await sink.write(Array("new".utf8))
        for name in ["file", "link"] { #expect(try !sink.finish(asNew: path(name))) }
        #expect(try sink.finish(asNew: path("file.1")))
        #expect(try text(path("file")) == "old" && text(path("file.1")) == "new")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        #expect(names.sorted() == ["file", "file.1", "link"])
    }

    #if os(Linux)
    @Test("what a process has left that was killed as it replaced a file is removed", arguments: [false, true])
    func abandoned(isAlive: Bool) async throws {
        try await write("first", to: path("file"))
        let hidden = path(".file.replacing.part")
        try await write("left", to: hidden)
        let other = open(hidden, O_RDONLY | O_CLOEXEC)
        defer { close(other) }
        if isAlive { try #require(flock(other, LOCK_EX | LOCK_NB) == 0) }
        try await write("second", to: path("file"))
        #expect(try text(path("file")) == "second")
        // That of a process that is alive stays its own.
        #expect(kind(of: hidden) == (isAlive ? S_IFREG : 0))
        if isAlive { #expect(try text(hidden) == "left") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()).count == (isAlive ? 2 : 1))
    }
    #endif

    @Test("a pipe or a device is refused, and stays what it is")
    func special() throws {
        let pipe = path("pipe")
        try #require(mkfifo(pipe, 0o644) == 0)
        symlink(pipe, path("link"))
        for path in [pipe, path("link")] {
            #expect(throws: HTTPBody.FileError(path: path, operation: .create, errno: EEXIST)) {
                try Download.FileSink(path: path)
            }
        }
        #expect(kind(of: pipe) == S_IFIFO)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()).count == 2)
        #expect(throws: HTTPBody.FileError.self) { try Download.FileSink(path: "/dev/null") }
        #expect(kind(of: "/dev/null") == S_IFCHR)
    }

    @Test("a link stays, and what it leads to is replaced")
    func link() async throws {
        try FileManager.default.createDirectory(at: folder.appending(path: "sub"), withIntermediateDirectories: true)
        symlink("sub/target", path("link"))
        symlink("link", path("second"))
        for name in ["link", "second"] {
            // At first there is nothing where it leads.
            try await write(name, to: path(name))
            #expect(kind(of: path(name)) == S_IFLNK)
            #expect(kind(of: path("sub/target")) == S_IFREG)
            #expect(try text(path("sub/target")) == name)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path("sub")) == ["target"])
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted() }
    }

    @Test("R10: a file has its name when it is whole, and no other one is left", arguments: [false, true])
    func names(withoutName: Bool) async throws {
        for content in ["first", "second"] {
            let before = try names
            let sink = try Download.FileSink(path: path("file"), withoutName: withoutName)
            try await sink.write(Array("lost".utf8))
            try await sink.startOver()
            try await sink.write(Array(content.utf8))
            #expect(try names.filter { !$0.hasSuffix(".part") } == before)
            try sink.finish()
            sink.discard()
            #expect(try names == ["file"])
            #expect(try text(path("file")) == content)
            var status = stat()
            #expect(stat(path("file"), &status) == 0 && status.st_nlink == 1)
            // The permissions of a file that is replaced are kept, those of a new one are the usual ones.
            #expect(status.st_mode & 0o777 == (content == "first" ? try modeOfNewFiles : 0o640))
            chmod(path("file"), 0o640)
        }
        let dropped = try Download.FileSink(path: path("other"), withoutName: withoutName)
        try await dropped.write([1])
        dropped.discard()
        #expect(try names == ["file"])
    }

    /// The permissions that the system gives a new file.
    private var modeOfNewFiles: mode_t {
        get throws {
            let path = path("ordinary")
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o666)
            try #require(descriptor >= 0)
            defer {
                close(descriptor)
                unlink(path)
            }
            var status = stat()
            try #require(fstat(descriptor, &status) == 0)
            return status.st_mode & 0o777
        }
    }

    #if os(Linux)
    /// Whether the file system of the tests has files without a name.
    private static let hasUnnamedFiles: Bool = {
        guard let descriptor = UnnamedFile.open(in: FileManager.default.temporaryDirectory.path(), mode: 0o600) else {
            return false
        }
        close(descriptor)
        return true
    }()

    @Test(
        "a process that ends at any moment leaves no file, where the file system has files without a name",
        .enabled(if: hasUnnamedFiles)
    )
    func leavesNothing() async throws {
        let sink = try Download.FileSink(path: path("file"))
        try await sink.write([1, 2, 3])
        #expect(try names.isEmpty)
        try sink.finish()
        #expect(try names == ["file"])
    }
    #endif

    @Test("a file that appears meanwhile is replaced, and a folder is not")
    func appearsMeanwhile() async throws {
        let sink = try Download.FileSink(path: path("file"))
        try await sink.write(Array("new".utf8))
        try Data("old".utf8).write(to: URL(filePath: path("file")))
        try sink.finish()
        #expect(try text(path("file")) == "new")
        let other = try Download.FileSink(path: path("folder"))
        try FileManager.default.createDirectory(atPath: path("folder"), withIntermediateDirectories: false)
        #expect(throws: HTTPBody.FileError(path: path("folder"), operation: .move, errno: EISDIR)) {
            try other.finish()
        }
        #expect(try names == ["file", "folder"])
    }

    @Test("links that lead in a circle, or to a folder, are refused")
    func badLinks() throws {
        symlink("b", path("a"))
        symlink("a", path("b"))
        symlink(".", path("here"))
        #expect(throws: HTTPBody.FileError(path: path("a"), operation: .create, errno: ELOOP)) {
            try Download.FileSink(path: path("a"))
        }
        #expect(throws: HTTPBody.FileError(path: path("here"), operation: .create, errno: EISDIR)) {
            try Download.FileSink(path: path("here"))
        }
    }
}
