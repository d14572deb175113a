import RefrainHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A file, or a folder, of a test's own.
struct ScratchFile {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "refrain-cli-tests")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: UUID().uuidString).path()
    }

    init(_ text: String) throws {
        try self.init()
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    /// What it holds; Foundation is not asked to read a file that is empty, since it leaks its buffer then.
    func bytes() throws -> [UInt8] {
        guard try FileChunks(path: path).length > 0 else { return [] }
        return Array(try Data(contentsOf: URL(filePath: path)))
    }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? [] }
    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
