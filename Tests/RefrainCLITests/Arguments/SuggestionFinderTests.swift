// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainCLI

@Suite("Suggestions for misspelt words")
struct SuggestionFinderTests {
    @Test(
        "the distance counts insertions, deletions, substitutions and swaps of neighbours",
        arguments: [
            ("", "", 0), ("a", "", 1), ("", "abc", 3), ("get", "gte", 1), ("kitten", "sitting", 3),
            ("timeout", "TIMEOUT", 0), ("ca", "abc", 3), ("retry", "retries", 3),
        ]
    )
    func distance(left: String, right: String, expected: Int) {
        #expect(SuggestionFinder.distance(from: left, to: right) == expected)
        #expect(SuggestionFinder.distance(from: right, to: left) == expected)
    }

    @Test("the nearest candidate is named, a far one is not")
    func nearest() {
        let candidates = ["get", "explain", "serve", "demo", "help"]
        #expect(SuggestionFinder.nearest(to: "gte", among: candidates) == "get")
        #expect(SuggestionFinder.nearest(to: "explian", among: candidates) == "explain")
        #expect(SuggestionFinder.nearest(to: "exp", among: candidates) == "explain")
        #expect(SuggestionFinder.nearest(to: "frobnicate", among: candidates) == nil)
        #expect(SuggestionFinder.nearest(to: String(repeating: "x", count: 1_000_000), among: candidates) == nil)
    }
}
