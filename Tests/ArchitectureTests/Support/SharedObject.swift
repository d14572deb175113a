// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The dynamic section of a 64-bit little-endian ELF file: which libraries it needs, and where it looks for them.
struct SharedObject {
    /// The names of the libraries that it needs directly (`DT_NEEDED`).
    let needed: [String]
    /// The folders that it names for the search (`DT_RUNPATH`, `DT_RPATH`), with `$ORIGIN` filled in.
    let searchPaths: [String]

    struct Malformed: Error {
        let path: String
        let reason: String
    }

    init(path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        func number(_ offset: Int, _ size: Int) throws -> Int {
            guard offset >= 0, offset <= bytes.count - size else { throw Malformed(path: path, reason: "cut short") }
            let value = bytes[offset..<offset + size].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Int(truncatingIfNeeded: value)
        }
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else {
            throw Malformed(path: path, reason: "not a 64-bit little-endian ELF file")
        }
        let headers = try number(32, 8)
        let headerSize = try number(54, 2)
        let segments = try (0..<number(56, 2)).map { index in
            let header = headers + index * headerSize
            return try (
                type: number(header, 4), offset: number(header + 8, 8), address: number(header + 16, 8),
                size: number(header + 32, 8)
            )
        }
        guard let dynamic = segments.first(where: { $0.type == 2 }) else {
            throw Malformed(path: path, reason: "no dynamic section")
        }
        let entries = try stride(from: dynamic.offset, to: dynamic.offset + dynamic.size, by: 16).map { entry in
            try (tag: number(entry, 8), value: number(entry + 8, 8))
        }
        // The string table is named by its address in memory, which a loadable segment maps to a place in the file.
        guard let table = entries.first(where: { $0.tag == 5 })?.value,
            let segment = segments.first(where: { $0.type == 1 && ($0.address..<$0.address + $0.size).contains(table) })
        else { throw Malformed(path: path, reason: "no string table") }
        func text(_ entry: (tag: Int, value: Int)) -> String {
            let start = table - segment.address + segment.offset + entry.value
            return String(decoding: bytes[min(start, bytes.count)...].prefix { $0 != 0 }, as: UTF8.self)
        }
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        needed = entries.filter { $0.tag == 1 }.map(text)
        searchPaths = entries.filter { $0.tag == 29 || $0.tag == 15 }
            .flatMap { text($0).split(separator: ":") }
            .map { String($0.replacing("$ORIGIN", with: folder)) }
    }

    /// The names of all libraries that are loaded with the file at `path`, those of its libraries included.
    ///
    /// A library that is found in none of the places where the linker looks by default is named but not opened.
    static func closure(of path: String) throws -> Set<String> {
        var names: Set<String> = []
        var waiting = [path]
        while let next = waiting.popLast() {
            let object = try SharedObject(path: next)
            for name in object.needed where names.insert(name).inserted {
                let places = (object.searchPaths + defaultSearchPaths).map { $0 + "/" + name }
                if let place = places.first(where: { FileManager.default.fileExists(atPath: $0) }) {
                    waiting.append(place)
                }
            }
        }
        return names
    }

    private static let defaultSearchPaths = [
        "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
        "/lib64", "/usr/lib64", "/lib", "/usr/lib",
    ]
}
