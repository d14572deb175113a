/// The words of the command line.
enum CommandWords {
    /// The words after the program's name.
    ///
    /// The standard library's own list has replacement characters where an argument is not UTF-8: a body would be sent
    /// changed, and a file of another name would be read or written.
    ///
    /// - Throws: ``UsageError``, which names the argument that is not UTF-8.
    static func read() throws(UsageError) -> [String] {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let pointer = CommandLine.unsafeArgv[index] else { break }
            guard let word = String(validatingCString: pointer) else {
                throw UsageError(
                    "argument \(index), \(Shown.text(String(cString: pointer))), is not UTF-8; "
                        + "a body that is none can be read from a file: -d @FILE"
                )
            }
            words.append(word)
        }
        return words
    }
}
