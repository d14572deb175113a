// SPDX-License-Identifier: Apache-2.0
/// Words as a shell reads them.
enum ShellText {
    /// The words of a command on one line.
    static func commandLine(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    /// A word, in single quotes where it needs them.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { ASCIILetter.isLetterOrDigit($0) || "-_./:=@%+,".utf8.contains($0) }
        return isPlain ? word : inQuotes(word)
    }

    /// A text in single quotes, as bash, zsh and fish read it.
    static func inQuotes(_ text: String, escape: String = "'\\''") -> String {
        var quoted = "'"
        for character in text { quoted += character == "'" ? escape : String(character) }
        return quoted + "'"
    }
}
