// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A folder that is removed with its last reference.
public final class TemporaryFolder: Sendable {
    /// Where it is.
    public let url: URL

    /// Makes an empty folder in the system's temporary one.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "refrain-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The place of a file in it.
    public func file(_ name: String) -> URL { url.appending(path: name) }

    /// The names of its files, sorted.
    public var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path())) ?? []).sorted() }

    /// Returns when the folder is empty.
    public func empties() async {
        // No event: what removes the last file is the release of an object.
        while !names.isEmpty { await Task.yield() }
    }
}
