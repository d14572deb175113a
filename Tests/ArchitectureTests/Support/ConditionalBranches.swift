// SPDX-License-Identifier: Apache-2.0
/// Follows `#if` … `#endif` and says whether a line may be compiled on Linux with glibc.
///
/// A condition that it cannot judge counts as possible, so that a rule is never escaped by an unusual condition.
struct ConditionalBranches {
    private struct Level {
        /// False where the branch is certainly left out.
        var isPossible: Bool
        /// Whether a branch before it was certainly taken.
        var isDecided: Bool
    }

    private var levels: [Level] = []

    var mayBeActive: Bool { levels.allSatisfy(\.isPossible) }

    /// Takes the words of a line; true if the line is a conditional directive.
    mutating func read(_ words: [String]) -> Bool {
        switch words.first {
        case "#if":
            let verdict = Self.onLinux(words.dropFirst().joined())
            levels.append(Level(isPossible: verdict != false, isDecided: verdict == true))
        case "#elseif":
            guard let level = levels.popLast() else { return true }
            let verdict = Self.onLinux(words.dropFirst().joined())
            levels.append(
                Level(isPossible: !level.isDecided && verdict != false, isDecided: level.isDecided || verdict == true)
            )
        case "#else":
            guard let level = levels.popLast() else { return true }
            levels.append(Level(isPossible: !level.isDecided, isDecided: true))
        case "#endif":
            _ = levels.popLast()
        default:
            return false
        }
        return true
    }

    private static let modulesOnLinux: Set = [
        "FoundationEssentials", "Foundation", "FoundationNetworking", "Glibc", "Dispatch", "Synchronization",
    ]
    private static let modulesElsewhere: Set = [
        "Darwin", "Musl", "Bionic", "WinSDK", "ObjectiveC", "Combine", "Network", "Security", "SystemConfiguration",
        "os",
    ]

    /// Whether a condition without spaces holds on Linux; nil if that cannot be said.
    static func onLinux(_ condition: String) -> Bool? {
        let alternatives = condition.split(separator: "||").map { all(of: String($0)) }
        if alternatives.contains(true) { return true }
        return alternatives.allSatisfy { $0 == false } ? false : nil
    }

    private static func all(of condition: String) -> Bool? {
        let parts = condition.split(separator: "&&").map { single(String($0)) }
        if parts.contains(false) { return false }
        return parts.allSatisfy { $0 == true } ? true : nil
    }

    private static func single(_ condition: String) -> Bool? {
        if condition.hasPrefix("!") { return single(String(condition.dropFirst())).map { !$0 } }
        if let module = argument(of: "canImport", in: condition) {
            if modulesOnLinux.contains(module) { return true }
            return modulesElsewhere.contains(module) ? false : nil
        }
        return argument(of: "os", in: condition).map { $0 == "Linux" }
    }

    private static func argument(of name: String, in condition: String) -> String? {
        guard condition.hasPrefix(name + "("), condition.hasSuffix(")") else { return nil }
        let argument = condition.dropFirst(name.count + 1).dropLast()
        return argument.contains { "()".contains($0) } ? nil : String(argument)
    }
}
