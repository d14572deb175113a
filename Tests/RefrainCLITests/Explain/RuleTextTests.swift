// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import RefrainCLI

@Suite("refrain explain: the rules in words")
struct RuleTextTests {
    @Test("every rule of Documentation/Rules.md has words of its own")
    func words() throws {
        let root = #filePath.components(separatedBy: "/Tests/").first ?? ""
        let page = try String(contentsOfFile: root + "/Documentation/Rules.md", encoding: .utf8)
        let names = page.split(separator: "\n").compactMap { line in
            line.hasPrefix("| **R") ? String(line.dropFirst(4).prefix { $0 != "*" }) : nil
        }
        #expect(names.count >= 39)
        #expect(Set(names.map(RuleText.words)).count == names.count)
        #expect(!names.map(RuleText.words).contains(RuleText.words("R0")))
    }
}
