/// Where the contents go.
enum Destination: Sendable, Hashable {
    /// One URL's goes to standard output, as it arrives.
    case standardOutput
    /// Several URLs' go to standard output, each one whole, in their order.
    case standardOutputInOrder
    /// One URL's goes to a file, written atomically.
    case file(String)
    /// Each URL's goes to a file of its own in this folder.
    case folder(String)
    /// Each URL's goes to a file of the last part of its path in this folder; empty: where the command runs.
    case remoteNames(String)
    /// They go to a device or a pipe, as they arrive.
    case device(String)
    /// They go nowhere.
    case nowhere

    /// Whether contents are printed.
    var isStandardOutput: Bool { self == .standardOutput || self == .standardOutputInOrder }

    /// Finds the destination that the options name; nothing is made yet.
    init(_ arguments: Arguments, numberOfURLs: Int) throws(UsageError) {
        let isReportOnOutput = arguments.last(.report).flatMap(Output.given) === Output.standard
        if arguments.has(.remoteName) {
            guard !arguments.has(.output) else { throw UsageError("--output and --remote-name exclude each other") }
            self = .remoteNames(arguments.last(.outputDir) ?? "")
            return
        }
        if let folder = arguments.last(.outputDir) {
            if let file = arguments.last(.output) {
                throw UsageError(
                    "--output and --output-dir exclude each other; write -o \(Directory.path(folder, file))"
                )
            }
            guard !folder.isEmpty, !folder.utf8.contains(0) else {
                throw .badValue(folder, of: "--output-dir", "is no folder")
            }
            self = .folder(folder)
            return
        }
        let files = Set(arguments.all(.output))
        guard files.count <= 1 else {
            throw UsageError(
                "--output takes the content of one URL, and was given \(files.count) files; --output-dir DIR, or "
                    + "output in a line of --from, names several"
            )
        }
        switch arguments.last(.output) {
        case nil:
            guard !isReportOnOutput else {
                self = .nowhere
                return
            }
            self = numberOfURLs == 1 ? .standardOutput : .standardOutputInOrder
        case .some(let path) where Output.given(path) === Output.standard:
            guard !isReportOnOutput else {
                throw UsageError("--output and --report cannot both be standard output")
            }
            self = numberOfURLs == 1 ? .standardOutput : .standardOutputInOrder
        case "/dev/null":
            self = .nowhere
        case .some(let path):
            guard !path.isEmpty, !path.utf8.contains(0) else { throw .badValue(path, of: "--output", "is no file") }
            guard numberOfURLs == 1 else {
                throw UsageError(
                    "--output takes the content of one URL, but there are \(numberOfURLs); use --output-dir DIR"
                )
            }
            switch Directory.kind(of: path) {
            case _ where Output.given(path) != nil: self = .device(path)
            case .folder: throw UsageError("--output: cannot write \(path): it is a folder")
            case .other: self = .device(path)
            case .file, .nothing:
                do throws(SystemError) {
                    self = .file(try Directory.withoutLinks(path))
                } catch {
                    throw UsageError("--output: \(error)")
                }
            }
        }
    }
}
