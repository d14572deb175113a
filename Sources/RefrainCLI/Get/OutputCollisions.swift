// SPDX-License-Identifier: Apache-2.0
/// Refuses outputs that would overwrite each other or an input.
enum OutputCollisions {
    /// The files that are read, each with the option that names it.
    private static func inputs(_ arguments: Arguments) -> [String: String] {
        var inputs: [String: String] = [:]
        func add(_ path: String, _ option: OptionName) {
            let path = path == "-" ? "/dev/stdin" : path
            if Directory.kind(of: path) == .file { inputs[Directory.identity(of: path)] = "--\(option.rawValue)" }
        }
        for (name, value) in arguments.given {
            switch name {
            case .from, .cacert, .netrcFile, .config, .key, .uploadFile, .checksumFile, .crlfile, .pinnedpubkey:
                add(value, name)
            case .cert: add(ClientCertificateFiles.split(value).path, name)
            case .cookie where !value.contains("="): add(value, name)
            case .data, .dataBinary, .json, .header, .bearer, .writeOut:
                if value.hasPrefix("@") { add(String(value.dropFirst()), name) }
            case .dataUrlencode, .urlQuery, .form:
                if let mark = value.firstIndex(of: "@") { add(String(value[value.index(after: mark)...]), name) }
            default: break
            }
        }
        return inputs
    }

    /// Refuses two outputs in one file: the last one would replace the others.
    ///
    /// The file of an input is refused as well: a report empties it before it is read. `--output FILE` may replace one:
    /// it does so when the content is complete.
    ///
    /// - Returns: the files that no body in an output folder may replace, and `--remote-name` no output.
    static func reserved(_ arguments: Arguments, _ destination: Destination) throws(UsageError) -> ReservedFiles {
        let inputs = inputs(arguments)
        var options: [String: String] = [:]
        func add(_ path: String?, _ option: String, _ inputs: [String: String] = [:]) throws(UsageError) {
            guard let path else { return }
            let location: String
            if let number = Output.descriptor(path) {
                location = "/dev/fd/\(number)"
            } else {
                guard [.file, .nothing].contains(Directory.kind(of: path)) else { return }
                location = Directory.identity(of: path)
                if let reader = inputs[location] {
                    throw UsageError("\(option) would write over \(Sanitized.text(path)), which \(reader) reads")
                }
            }
            guard let other = options.updateValue(option, forKey: location) else { return }
            throw UsageError("\(other) and \(option) would both write \(Sanitized.text(path))")
        }
        for (number, each) in destination.destinations.enumerated() {
            switch each {
            case .file(let path), .device(let path):
                let option = destination.destinations.count == 1 ? "--output" : "--output of URL \(number + 1)"
                try add(path, option)
                // The partial files of a file that is being written.
                if case .file = each, destination.destinations.count > 1 {
                    let names = PartialNames(path)
                    for name in [names.part, names.record, names.positions] { try add(name, option) }
                }
            case .standardOutput: try add("-", "the response")
            case .standardOutputInOrder, .folder, .remoteNames, .nowhere, .each: break
            }
        }
        if destination.printsInOrder { try add("-", "the response") }
        for name in [OptionName.report, .timelineSVG, .cookieJar] {
            // The jar may be the file that cookies are read from.
            let others = name == .cookieJar ? inputs.filter { $0.value != "--cookie" } : inputs
            try add(arguments.last(name), "--\(name.rawValue)", others)
        }
        try add(arguments.last(.etagSave), "--etag-save", inputs)
        if let path = arguments.last(.dumpHeader), path != "-" { try add(path, "--dump-header", inputs) }
        if let path = arguments.last(.state), !SharedStateLocation.isDatabase(path) { try add(path, "--state", inputs) }
        return ReservedFiles(options, inputs: inputs)
    }
}

/// The files that options read or write, which no body in an output folder may replace.
///
/// Below an output folder no symbolic link is followed, so a file in it is told by its path.
struct ReservedFiles: Sendable {
    /// The options by what ``Directory/identity(of:)`` gives for each file.
    private let options: [String: String]
    /// The files that are only read.
    private let inputs: Set<String>
    private let names: Set<String>

    init(_ outputs: [String: String], inputs: [String: String] = [:]) {
        options = outputs.merging(inputs) { option, _ in option }
        self.inputs = Set(inputs.keys).subtracting(outputs.keys)
        names = Set(options.keys.map { Self.name($0) })
    }

    /// The option that writes a file; nil: none does.
    func option(thatWrites path: String) -> String? {
        option(thatUses: path).flatMap { inputs.contains(Directory.identity(of: path)) ? nil : $0 }
    }

    /// The option that uses a file; nil: none does.
    ///
    /// An identity requires a system call for each folder of the path, so it is computed only for a path with the name
    /// of a reserved file.
    func option(thatUses path: String) -> String? {
        guard names.contains(Self.name(path)) else { return nil }
        return options[Directory.identity(of: path)]
    }

    /// Whether none of the files is in a folder.
    func isOutside(_ folder: String) -> Bool {
        guard !options.isEmpty else { return true }
        let inner = OutputNaming.folded(Directory.path(Directory.identity(of: folder), ""))
        return options.keys.allSatisfy { !OutputNaming.folded($0).hasPrefix(inner) }
    }

    private static func name(_ path: String) -> String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        return OutputNaming.folded(slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path)
    }
}
