// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The Swift files of the package's `Sources` folder, as they lie on disk.
struct SourceTree {
    struct File: Sendable {
        /// The path below `Sources`, for example `RefrainCore/Engine/WithRetry.swift`.
        let path: String
        let source: SwiftSource

        /// The target that the file belongs to: the first folder below `Sources`.
        var module: String { String(path.prefix { $0 != "/" }) }
    }

    /// The package's root, found from the place of this file: Tests/ArchitectureTests/Support.
    static let root: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(4).joined(separator: "/")
    }()

    let files: [File]

    init() throws {
        let sources = Self.root + "/Sources"
        files = try FileManager.default.subpathsOfDirectory(atPath: sources)
            .filter { $0.hasSuffix(".swift") }
            .sorted()
            .map { path in
                let bytes = try Data(contentsOf: URL(filePath: sources + "/" + path))
                return File(path: path, source: SwiftSource(String(decoding: bytes, as: UTF8.self)))
            }
    }

    /// Every folder right below `Sources`, those of C targets included.
    static func modules() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root + "/Sources").filter { !$0.hasPrefix(".") }.sorted()
    }
}
