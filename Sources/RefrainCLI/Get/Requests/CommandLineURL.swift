/// The check of a URL of the command line, in the words of curl, wget and aria2c.
enum CommandLineURL {
    /// - Throws: ``UsageError`` that says what to write instead.
    static func check(_ url: String, _ arguments: Arguments) throws(UsageError) {
        if arguments.has(.continue), url == "-" || ASCIINumber.whole(url) != nil {
            throw UsageError(
                "-C \(url): -C takes no value, and goes on from a partial file that is known to be of the same content; "
                    + "leave \(url) out"
            )
        }
        do throws(UsageError) {
            try URLList.check(url, "URL")
        } catch {
            throw OtherCommands.explained(error, url, arguments)
        }
        guard !arguments.has(.globoff), let pattern = URLPattern.first(in: url) else { return }
        let shown = Sanitized.text(SanitizedURL.refused(url), limit: 200)
        throw UsageError(
            "URL: \(shown) has the pattern \(Sanitized.text(pattern)), which is not expanded here: the shell does that, "
                + "with {a,b} and {1..9} outside of quotation marks; -g takes it as it is"
        )
    }
}
