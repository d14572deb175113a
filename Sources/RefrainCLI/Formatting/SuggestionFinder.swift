// SPDX-License-Identifier: Apache-2.0
/// Finds the known word that is most similar to an unknown one.
enum SuggestionFinder {
    /// The candidate that is nearest to a word, if one is near enough; otherwise nil.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        guard word.utf8.count <= 64 else { return nil }
        let limit = max(1, min(3, word.count / 2))
        var best: (distance: Int, candidate: String)?
        for candidate in candidates {
            let distance = distance(from: word, to: candidate)
            if distance <= limit, distance < best?.distance ?? .max { best = (distance, candidate) }
        }
        if let best { return best.candidate }
        // A prefix that only one candidate has suggests that candidate.
        let longer = candidates.filter { word.count >= 3 && $0.hasPrefix(word) }
        return longer.count == 1 ? longer.first : nil
    }

    /// The edits between two words: insertions, deletions, substitutions, and swaps of neighbours.
    static func distance(from left: String, to right: String) -> Int {
        let (a, b) = (Array(left.lowercased().utf8), Array(right.lowercased().utf8))
        var beforePrevious: [Int] = []
        var previous = Array(0...b.count)
        for i in a.indices {
            var current = [i + 1]
            for j in b.indices {
                var cost = min(previous[j + 1] + 1, current[j] + 1, previous[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforePrevious[j - 1] + 1) }
                current.append(cost)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous.last ?? a.count
    }
}
