// SPDX-License-Identifier: Apache-2.0
/// The destination of bodies.
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
    /// They are discarded.
    case nowhere
    /// Each URL's goes to its own destination, in the order of the URLs.
    case each([Destination])

    /// Whether all bodies are printed.
    var isStandardOutput: Bool { self == .standardOutput || self == .standardOutputInOrder }

    /// Whether bodies go to standard output, a device or a pipe, where they are not kept.
    var printsContents: Bool { hasStreams || printsInOrder }

    /// Whether bodies are printed in the order of their URLs.
    var printsInOrder: Bool { destinations.contains(.standardOutputInOrder) }

    /// Whether bodies are written as they arrive to what is not a file.
    var hasStreams: Bool {
        destinations.contains { destination in
            switch destination {
            case .standardOutput, .device: true
            default: false
            }
        }
    }

    /// Whether bodies become files.
    var hasFiles: Bool {
        destinations.contains { destination in
            switch destination {
            case .file, .folder, .remoteNames: true
            default: false
            }
        }
    }

    /// The destinations of the URLs: one for each, or one for all.
    var destinations: [Destination] {
        if case .each(let destinations) = self { destinations } else { [self] }
    }

    /// The destination of the URL with a number.
    func destination(of number: Int) -> Destination {
        guard case .each(let destinations) = self else { return self }
        return destinations.indices.contains(number) ? destinations[number] : .nowhere
    }

    /// Finds the destination that the options name; creates nothing.
    init(_ arguments: Arguments, numberOfURLs: Int) throws(UsageError) {
        let isReportOnOutput = arguments.last(.report).flatMap(Output.given) === Output.standard
        let folder = arguments.last(.outputDir)
        let files = arguments.all(.output)
        if arguments.has(.remoteName) {
            guard files.isEmpty else { throw UsageError("--output and --remote-name exclude each other") }
            self = .remoteNames(folder ?? "")
            return
        }
        if let folder {
            guard !folder.isEmpty, !folder.utf8.contains(0) else {
                throw .badValue(folder, of: "--output-dir", "is not a folder")
            }
            guard !files.isEmpty else {
                self = .folder(folder)
                return
            }
        }
        let printed = numberOfURLs == 1 ? Self.standardOutput : .standardOutputInOrder
        let unnamed = isReportOnOutput ? .nowhere : printed
        var destinations: [Destination] = []
        for file in files.prefix(numberOfURLs) {
            destinations.append(
                try Self.destination(of: file, in: folder, printed: printed, isReportOnOutput: isReportOnOutput)
            )
        }
        guard let first = destinations.first else {
            self = unnamed
            return
        }
        // A destination for any number of bodies takes all of them, unless there are further options.
        guard numberOfURLs > 1, Set(files).count > 1 || ![printed, .nowhere].contains(first) else {
            self = first
            return
        }
        guard !arguments.has(.from) else {
            throw UsageError(
                "--output takes the response of one URL, but there are \(numberOfURLs); --output-dir DIR, or output in "
                    + "a line of --from, names several files"
            )
        }
        // Bodies without an option of their own are printed, as by curl.
        self = .each(destinations + Array(repeating: unnamed, count: numberOfURLs - destinations.count))
    }

    /// A warning about an option without effect; nil: none.
    static func remark(_ arguments: Arguments, numberOfURLs: Int) -> String? {
        let files = arguments.all(.output)
        guard files.count > numberOfURLs, Set(files).count > 1 else { return nil }
        return "--output is for one URL each, in their order; there are \(numberOfURLs) of them, so "
            + "\(files[numberOfURLs...].map { Sanitized.text($0) }.joined(separator: ", ")) is not written"
    }

    /// The destination that an option names for one response.
    private static func destination(
        of file: String,
        in folder: String?,
        printed: Destination,
        isReportOnOutput: Bool
    ) throws(UsageError) -> Destination {
        if Output.given(file) === Output.standard {
            guard !isReportOnOutput else {
                throw UsageError("--output and --report cannot both be standard output")
            }
            return printed
        }
        guard file != "/dev/null" else { return .nowhere }
        guard !file.isEmpty, !file.utf8.contains(0) else { throw .badValue(file, of: "--output", "is not a file") }
        guard Output.given(file) == nil else { return .device(file) }
        let path = folder.map { Directory.path($0, file) } ?? file
        switch Directory.kind(of: path) {
        case .folder: throw UsageError("--output: cannot write \(path): it is a folder")
        case .other: return .device(path)
        case .file, .nothing:
            do throws(SystemError) {
                return .file(try Directory.withoutLinks(path))
            } catch {
                throw UsageError("--output: \(error)")
            }
        }
    }
}
