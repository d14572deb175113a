// SPDX-License-Identifier: Apache-2.0
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

/// A file that goes with the value that stands for it.
final class TemporaryFile: Sendable {
    let path: String

    init(_ bytes: some Sequence<UInt8>) throws {
        let folder = FileManager.default.temporaryDirectory
        path = folder.appending(path: "refrain-\(UUID().uuidString)").path()
        try write(bytes)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ bytes: some Sequence<UInt8>) throws { try Data(bytes).write(to: URL(filePath: path)) }

    func remove() throws { try FileManager.default.removeItem(atPath: path) }
}

/// Sets the length of a file in place, as another process with the file open would.
func truncate(_ file: TemporaryFile, to length: Int) throws {
    try #require(truncate(file.path, length) == 0)
}
