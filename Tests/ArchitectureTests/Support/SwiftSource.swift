// SPDX-License-Identifier: Apache-2.0
/// A Swift file, read just closely enough to ask what it imports.
struct SwiftSource: Sendable {
    /// The lines with comments and the contents of string literals blanked out; line numbers are kept.
    let lines: [String]

    init(_ text: String) {
        lines = Self.code(of: text).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The modules that the file imports, with line numbers from 1.
    ///
    /// - Parameter onLinux: leaves out the branches of `#if` that are certainly not compiled on Linux.
    func imports(onLinux: Bool) -> [(line: Int, module: String)] {
        var branches = ConditionalBranches()
        var found: [(line: Int, module: String)] = []
        for (index, line) in lines.enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" || $0 == ";" }.map(String.init)
            if branches.read(words) || (onLinux && !branches.mayBeActive) { continue }
            // Attributes and an access level may stand before `import`, a kind of declaration after it.
            guard let position = words.firstIndex(of: "import"),
                words[..<position].allSatisfy({ $0.hasPrefix("@") || Self.accessLevels.contains($0) })
            else { continue }
            let names = words[(position + 1)...].drop { Self.declarationKinds.contains($0) }
            guard let name = names.first else { continue }
            found.append((index + 1, String(name.prefix { $0 != "." })))
        }
        return found
    }

    private static let accessLevels: Set = ["public", "package", "internal", "fileprivate", "private"]
    private static let declarationKinds: Set = [
        "struct", "class", "enum", "protocol", "func", "var", "let", "typealias", "actor",
    ]

    /// `text` without comments and without what stands in string literals.
    ///
    /// Interpolations are dropped with their literal: no import is written in one.
    private static func code(of text: String) -> String {
        enum State { case code, lineComment, blockComment(Int), string(multiline: Bool, hashes: Int) }
        let characters = Array(text)
        var state = State.code
        var result = ""
        var index = 0

        func starts(_ token: String, at position: Int) -> Bool {
            var cursor = position
            for character in token {
                guard cursor < characters.count, characters[cursor] == character else { return false }
                cursor += 1
            }
            return true
        }

        /// The end of the interpolation whose opening parenthesis is at `position`.
        func interpolationEnd(from position: Int) -> Int {
            var depth = 0
            var cursor = position
            while cursor < characters.count {
                if characters[cursor] == "(" { depth += 1 }
                if characters[cursor] == ")" { depth -= 1 }
                cursor += 1
                if depth == 0 { break }
            }
            return cursor
        }

        while index < characters.count {
            let character = characters[index]
            switch state {
            case .code:
                if starts("//", at: index) {
                    state = .lineComment
                    index += 2
                } else if starts("/*", at: index) {
                    state = .blockComment(1)
                    index += 2
                } else if character == "\"" {
                    var hashes = 0
                    while result.last == "#" {
                        result.removeLast()
                        hashes += 1
                    }
                    let multiline = starts("\"\"\"", at: index)
                    state = .string(multiline: multiline, hashes: hashes)
                    index += multiline ? 3 : 1
                    result.append("\"")
                } else {
                    result.append(character)
                    index += 1
                }
            case .lineComment:
                if character == "\n" {
                    state = .code
                    result.append(character)
                }
                index += 1
            case .blockComment(let depth):
                if starts("/*", at: index) {
                    state = .blockComment(depth + 1)
                    index += 2
                } else if starts("*/", at: index) {
                    state = depth == 1 ? .code : .blockComment(depth - 1)
                    index += 2
                } else {
                    if character == "\n" { result.append(character) }
                    index += 1
                }
            case .string(let multiline, let hashes):
                let pounds = String(repeating: "#", count: hashes)
                let end = (multiline ? "\"\"\"" : "\"") + pounds
                if starts(end, at: index) {
                    state = .code
                    result.append("\"")
                    index += end.count
                } else if starts("\\" + pounds + "(", at: index) {
                    index = interpolationEnd(from: index + hashes + 1)
                } else if starts("\\" + pounds, at: index) {
                    index += hashes + 2
                } else {
                    if character == "\n" { result.append(character) }
                    index += 1
                }
            }
        }
        return result
    }
}
