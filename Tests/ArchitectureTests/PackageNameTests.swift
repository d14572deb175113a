// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("What the command uses that no user of the library can", .computing)
struct PackageNameTests {
    /// The types and functions of `package` access that the command uses.
    ///
    /// The command is to stand on the public library: this list becomes shorter, never longer.
    static let known: Set<Substring> = [
        // Locks, and what the sanitizer needs to know.
        "ConditionLock", "Locked", "resumption",
        // The state of a list.
        "Database", "DatabaseError", "SharedRequests",
        // Downloads: a large body that the transport's thread writes, and URLs that are signed anew.
        "DirectSink", "SignedURL",
        // The forms of curl's dates and of URLs.
        "CurlDate", "URLText",
        // What is shown.
        "JSONText", "SVGPage",
    ]

    @Test("the command uses the names of the list, and no others")
    func names() throws {
        var declared: Set<Substring> = []
        var used: Set<Substring> = []
        for file in try SourceTree().files {
            for line in file.source.lines {
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
                if file.module == "RefrainCLI" {
                    used.formUnion(words)
                } else if line.hasPrefix("package "), let keyword = words.firstIndex(where: Self.keywords.contains),
                    words.indices.contains(keyword + 1)
                {
                    declared.insert(words[keyword + 1])
                }
            }
        }
        #expect(used.intersection(declared) == Self.known)
    }

    private static let keywords: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias", "func"]
}
