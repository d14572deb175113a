#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A folder that is removed with its last reference.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "refrain-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appending(path: name) }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path())) ?? []).sorted() }

    /// Returns when the folder is empty.
    func empties() async {
        // No event: what removes the last file is the release of an object.
        while !names.isEmpty { await Task.yield() }
    }
}
