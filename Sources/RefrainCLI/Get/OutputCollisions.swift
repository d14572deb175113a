/// Refuses outputs that would destroy each other, or what is read.
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
            case .from, .cacert, .netrcFile, .config, .key, .uploadFile, .checksumFile: add(value, name)
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

    /// Refuses two outputs in one file: the one that comes last would be all that is left.
    ///
    /// The file of an input is refused as well: a report empties it before it is read. `--output FILE` may replace one:
    /// it does so when the content is complete.
    ///
    /// - Returns: the files that no content in an output folder may replace, each with the option that uses it.
    static func reserved(_ arguments: Arguments, _ destination: Destination) throws(UsageError) -> [String: String] {
        let inputs = inputs(arguments)
        var options: [String: String] = [:]
        func add(_ path: String?, _ option: String, _ inputs: [String: String] = [:]) throws(UsageError) {
            guard let path else { return }
            let place: String
            if let number = Output.descriptor(path) {
                place = "/dev/fd/\(number)"
            } else {
                guard [.file, .nothing].contains(Directory.kind(of: path)) else { return }
                place = Directory.identity(of: path)
                if let reader = inputs[place] {
                    throw UsageError("\(option) would write over \(Sanitized.text(path)), which \(reader) reads")
                }
            }
            guard let other = options.updateValue(option, forKey: place) else { return }
            throw UsageError("\(other) and \(option) would both write \(Sanitized.text(path))")
        }
        switch destination {
        case .file(let path), .device(let path): try add(path, "--output")
        case .standardOutput, .standardOutputInOrder: try add("-", "the content")
        case .folder, .remoteNames, .nowhere: break
        }
        for name in [OptionName.report, .timelineSVG, .cookieJar] {
            try add(arguments.last(name), "--\(name.rawValue)", name == .cookieJar ? [:] : inputs)
        }
        if let path = arguments.last(.dumpHeader), path != "-" { try add(path, "--dump-header", inputs) }
        if let path = arguments.last(.state) { try add(path, "--state", inputs) }
        return options.merging(inputs) { option, _ in option }
    }
}
