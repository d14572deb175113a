// SPDX-License-Identifier: Apache-2.0
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

/// A folder of a test's own, with a path in it.
final class ScratchFile {
    private let folder: URL
    let path: String

    init(_ content: String? = nil) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "refrain-queue-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "outbox.sqlite").path()
        if let content { try Data(content.utf8).write(to: URL(filePath: path)) }
    }

    /// What it holds; nothing where it is not there.
    var text: String { (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// Cuts the file to a part of its length.
    func cut(to share: Double) throws {
        let bytes = try Data(contentsOf: URL(filePath: path))
        try bytes.prefix(Int(Double(bytes.count) * share)).write(to: URL(filePath: path))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
