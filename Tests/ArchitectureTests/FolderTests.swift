// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("Which folder may use which", .computing)
struct FolderTests {
    /// The floors of each module, the lowest first.
    ///
    /// A folder uses the types of its own floor and of those below; the folders of one floor stand apart, except for
    /// those in one set. `""` is the module's own folder.
    static let floors: [String: [[Set<String>]]] = [
        "RefrainCore": [[["", "Concurrency", "Time"]], [["Schedule"]], [["Budget"]], [["Engine"]]],
        "RefrainHTTP": [
            [["Values"]], [["Parsing"]], [["Chain"], ["Trust"]],
            [["Timeout"], ["Cookies"], ["Middleware"], ["Download"]], [["Retry"]], [["Redirect"], ["Authentication"]],
            [["Reset"]], [["Throttle"]], [["Pacing"]], [["Coalescing"], ["Streaming"]], [[""]],
        ],
        "RefrainCLI": [
            [["Formatting"]], [["Terminal"]], [["Arguments"]], [["Policy"]],
            [["Get"], ["Explain"], ["Simulate"], ["Serve"], ["Help"], ["Completions"]], [["Demo"], ["Status"]], [[""]],
        ],
        // A transfer belongs to its loop, and a loop drives transfers: one set.
        "RefrainCurl": [
            [["Values"]], [["Settings"]], [["Connections"], ["Bodies"]], [["Head"]], [["Transfer", "Loop"]], [[""]],
        ],
        "RefrainSession": [
            [["Values", ""]], [["Errors"]], [["Parameters"], ["Events"]], [["Interceptors"]],
            [["Authentication"], ["Offline"]], [["Session", "Requests"]],
            [["Targets"], ["Serialization"], ["Validation"]],
        ],
    ]

    /// Types that every folder of a module may name: the session's protocols for the caller's code take a request and a
    /// session, and the settings of the loader are nested in it.
    static let shared: [String: Set<String>] = [
        "RefrainCurl": ["CurlLoader"],
        "RefrainSession": ["Request", "Session"],
    ]

    @Test("every folder of these modules is on a floor", arguments: floors.keys.sorted())
    func everyFolderIsKnown(module: String) throws {
        let known = Set((Self.floors[module] ?? []).joined().joined())
        let unknown = try Self.files(of: module).map(\.folder).filter { !known.contains($0) && !$0.hasSuffix(".docc") }
        #expect(Set(unknown) == [], "a new folder needs its place in `floors`")
    }

    @Test("a folder uses the types of the floors below it alone", arguments: floors.keys.sorted())
    func typesFollowTheFloors(module: String) throws {
        let files = try Self.files(of: module)
        var owners: [Substring: Set<String>] = [:]
        for file in files {
            for type in file.declaredTypes { owners[type, default: []].insert(file.folder) }
        }
        var violations: Set<String> = []
        for file in files {
            let allowed = Self.below(file.folder, in: module)
            for word in file.words where Self.shared[module]?.contains(String(word)) != true {
                guard let folders = owners[word], folders.isDisjoint(with: allowed) else { continue }
                violations.insert("Sources/\(file.path) uses \(word) of \(folders.sorted())")
            }
        }
        #expect(violations.sorted() == [])
    }

    /// The folders that a folder may use, itself included.
    private static func below(_ folder: String, in module: String) -> Set<String> {
        var below: Set<String> = []
        for floor in floors[module] ?? [] {
            if let own = floor.first(where: { $0.contains(folder) }) { return below.union(own) }
            below.formUnion(floor.joined())
        }
        return below
    }

    private struct File {
        let path: String
        let folder: String
        let declaredTypes: Set<Substring>
        let words: Set<Substring>

        init(_ file: SourceTree.File) {
            path = file.path
            let parts = file.path.split(separator: "/")
            folder = parts.count > 2 ? String(parts[1]) : ""
            var types: Set<Substring> = []
            var words: Set<Substring> = []
            for line in file.source.lines {
                let tokens = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
                words.formUnion(tokens.filter { $0.first?.isUppercase == true })
                // A type of the whole module stands at the beginning of a line.
                guard line.first.map({ !$0.isWhitespace }) == true,
                    let keyword = tokens.firstIndex(where: { Self.keywords.contains(String($0)) }),
                    !tokens[..<keyword].contains(where: { $0 == "private" || $0 == "fileprivate" || $0 == "extension" }
                    ),
                    tokens.indices.contains(keyword + 1)
                else { continue }
                types.insert(tokens[keyword + 1])
            }
            declaredTypes = types
            self.words = words
        }

        private static let keywords: Set = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    }

    private static func files(of module: String) throws -> [File] {
        try SourceTree().files.filter { $0.module == module }.map(File.init)
    }
}
