// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("What the command uses that no user of the library can", .computing)
struct PackageNameTests {
    /// The names of `package` access that the command uses: types, functions, and members of types that are public.
    ///
    /// The command is to stand on the public library: this list becomes shorter, never longer.
    static let known: Set<Substring> = [
        // Locks, and what the sanitizer needs to know.
        "ConditionLock", "Locked", "resumption",
        // The state of a list.
        "Database", "DatabaseError", "RequestList",
        // URLs as texts, and those that are signed anew.
        "SignedURL", "URLText",
        // The settings of libcurl that only options set, and types of theirs.
        "ConnectionOverrides",
        // What is shown.
        "JSONText", "SVGPage", "inSeconds",
    ]

    @Test("the command uses the names of the list, and no others")
    func names() throws {
        var package = Set(try SourceTree().files.flatMap { Self.packageTypes(in: $0.source.lines) })
        var members: Set<Substring> = []
        var other: Set<Substring> = []
        var shown: Set<Substring> = []
        var used: Set<Substring> = []
        for file in try SourceTree().files {
            var isInPackageType = false
            for line in file.source.lines {
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
                if file.module == "RefrainCLI" { used.formUnion(words) }
                let indentation = line.prefix { $0 == " " }.count
                if indentation == 0, line.hasSuffix("{") {
                    let extended = words.dropFirst()
                    isInPackageType = words.first == "package" || !package.union(members).isDisjoint(with: extended)
                }
                guard let keyword = words.firstIndex(where: Self.keywords.contains),
                    words.indices.contains(keyword + 1)
                else { continue }
                let name = words[keyword + 1]
                if indentation == 0, words[..<keyword].contains("public") { shown.insert(name) }
                if file.module == "RefrainCLI" || !words[..<keyword].contains("package") {
                    other.insert(name)
                } else if indentation == 0 {
                    package.insert(name)
                } else if indentation == 4, !isInPackageType {
                    members.insert(name)
                }
            }
        }
        // The name of a member says nothing where something else has it, too; nor does one that has a public form.
        let own = package.union(members.subtracting(other)).subtracting(shown)
        #expect(used.intersection(own) == Self.known)
    }

    /// The types of a file that have `package` access, which files before it may extend.
    private static func packageTypes(in lines: [String]) -> [Substring] {
        lines.filter { $0.hasPrefix("package ") && $0.hasSuffix("{") }.compactMap { line in
            let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            return words.firstIndex(where: keywords.contains).map { words[$0 + 1] }
        }
    }

    private static let keywords: Set<Substring> = [
        "struct", "class", "enum", "protocol", "actor", "typealias", "func", "let", "var", "case",
    ]
}
