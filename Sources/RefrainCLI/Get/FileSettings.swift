internal import Refrain

/// How files are named and finished where curl's options say so.
struct FileSettings: Sendable {
    /// Whether the server may name the file.
    let takesHeaderName: Bool
    /// Whether a file that is there is left, and the new one gets a number.
    let keepsOldFiles: Bool
    /// Whether missing folders are made.
    let createsFolders: Bool
    /// Whether files get the date of `Last-Modified`.
    let keepsTime: Bool
    /// Where the tag of a content is written; nil: nowhere.
    let tagFile: String?

    init(_ arguments: Arguments) throws(UsageError) {
        takesHeaderName = arguments.has(.remoteHeaderName)
        guard !takesHeaderName || arguments.has(.remoteName) else {
            throw UsageError("--remote-header-name needs --remote-name")
        }
        keepsOldFiles = arguments.has(.noClobber)
        createsFolders = arguments.has(.createDirs)
        keepsTime = arguments.has(.remoteTime)
        tagFile = arguments.last(.etagSave)
        if let tagFile, tagFile.isEmpty || tagFile.utf8.contains(0) || Directory.kind(of: tagFile) == .folder {
            throw .badValue(tagFile, of: "--etag-save", "is no file")
        }
    }

    /// The path that a file is written to; another one than was asked for where that one is to stay.
    func path(_ wanted: String) throws(SystemError) -> String {
        guard keepsOldFiles, Directory.kind(of: wanted) != .nothing else { return wanted }
        for number in 1...100 where Directory.kind(of: "\(wanted).\(number)") == .nothing {
            return "\(wanted).\(number)"
        }
        throw SystemError(what: "cannot write \(wanted) under another name", code: SystemError.fileExists)
    }

    /// The name that a server gives a content: the last part of the filename in `Content-Disposition` (RFC 6266).
    static func name(in field: String) -> String? {
        for part in parts(of: field).dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map { String($0).trimmedOfWhiteSpace }
            guard pair.count == 2, pair[0].lowercased() == "filename" else { continue }
            let text = pair[1].hasPrefix("\"") ? unquoted(pair[1]) : pair[1]
            let last = text.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
            return last.isEmpty ? nil : OutputNaming.sanitized(last)
        }
        return nil
    }

    /// What stands between the semicolons that are in no quotation marks.
    private static func parts(of field: String) -> [String] {
        var parts = [""]
        var (isQuoted, isEscaped) = (false, false)
        for character in field {
            if character == ";", !isQuoted {
                parts.append("")
                continue
            }
            parts[parts.count - 1].append(character)
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
        }
        return parts
    }

    /// A quoted text up to its last quotation mark; servers write paths of other systems with single backslashes, so
    /// only those before a quotation mark or a backslash are taken out.
    private static func unquoted(_ text: String) -> String {
        var (result, rest) = ("", text.dropFirst())
        while let character = rest.popFirst(), character != "\"" {
            guard character == "\\", let next = rest.first, next == "\"" || next == "\\" else {
                result.append(character)
                continue
            }
            result.append(next)
            rest.removeFirst()
        }
        return result
    }
}

/// A file whose name the server may choose, in the head of its answer; none that is there is replaced by such a one.
final class NamedByServerSink: ContentSink, DownloadObserver {
    private let fallback: String
    private let file = Locked<FileContentSink?>(nil)
    private let chosen = Locked<String?>(nil)

    init(fallback: String) { self.fallback = fallback }

    /// The path that was written.
    var path: String { chosen.withLock { $0 } ?? fallback }
    var delivered: Int64 { file.withLock { $0 }?.delivered ?? 0 }

    func willReceive(_ response: HTTPResponse, from checkpoint: DownloadCheckpoint?) async throws {
        guard file.withLock({ $0 == nil }) else { return }
        var path = fallback
        if let name = response.headers["Content-Disposition"].flatMap(FileSettings.name) {
            path = Directory.above(fallback) + name
            guard Directory.kind(of: path) == .nothing else {
                throw SystemError(what: "cannot write \(path), as the server names it", code: SystemError.fileExists)
            }
        }
        let sink = try FileContentSink(path: path)
        chosen.withLock { $0 = path }
        file.withLock { $0 = sink }
    }

    private func opened() throws -> FileContentSink {
        if let sink = file.withLock({ $0 }) { return sink }
        let sink = try FileContentSink(path: fallback)
        file.withLock { $0 = sink }
        return sink
    }

    func write(_ bytes: [UInt8]) async throws { try await opened().write(bytes) }
    func startOver() async throws { try await file.withLock { $0 }?.startOver() }
    func finish() throws { try opened().finish() }
    func discard() { file.withLock { $0 }?.discard() }
    func readBack(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool { try opened().readBack(body) }
}
