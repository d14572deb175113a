// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// How files are named and finished, from curl's options.
struct FileSettings: Sendable {
    /// Whether the server may name the file.
    let takesHeaderName: Bool
    /// Whether an existing file is kept, and the new one gets a number.
    private let keepsOldFiles: Bool
    /// Whether files get names that are chosen when they come.
    var choosesNames: Bool { takesHeaderName || keepsOldFiles }
    /// Whether missing folders are created.
    let createsFolders: Bool
    /// Whether files get the date of `Last-Modified`.
    let keepsTime: Bool
    /// Where the tag of a body is written; nil: nowhere.
    let tagFile: String?

    init(_ arguments: Arguments) throws(UsageError) {
        takesHeaderName = arguments.has(.remoteHeaderName)
        guard !takesHeaderName || arguments.has(.remoteName) else {
            throw UsageError("--remote-header-name needs --remote-name")
        }
        guard !takesHeaderName || !arguments.has(.continue) else {
            throw UsageError(
                "--continue and --remote-header-name exclude each other: the name of the file, and of its partial file, "
                    + "is known only when the response arrives"
            )
        }
        keepsOldFiles = arguments.has(.noClobber)
        let namesFiles = arguments.has(.output) || arguments.has(.remoteName)
        guard !keepsOldFiles || namesFiles || !arguments.has(.outputDir) else {
            throw UsageError("--no-clobber is for files of -o and -O; in a folder each request has a file of its own")
        }
        createsFolders = arguments.has(.createDirs)
        keepsTime = arguments.has(.remoteTime)
        tagFile = arguments.last(.etagSave)
        if let tagFile, tagFile.isEmpty || tagFile.utf8.contains(0) || Directory.kind(of: tagFile) == .folder {
            throw .badValue(tagFile, of: "--etag-save", "is not a file")
        }
    }

    /// The path that a file is written to; a numbered one if an existing file is kept.
    private func path(_ wanted: String, _ claimed: ClaimedPaths) throws(SystemError) -> String {
        guard keepsOldFiles else {
            guard !takesHeaderName || claimed.claim(wanted) else {
                throw SystemError(what: "cannot write \(wanted): another URL writes it", code: SystemError.fileExists)
            }
            return wanted
        }
        for number in 0...100 {
            let path = number == 0 ? wanted : "\(wanted).\(number)"
            if !Directory.hasEntry(path), claimed.claim(path) { return path }
        }
        throw SystemError(what: "cannot write \(wanted) under another name", code: SystemError.fileExists)
    }

    /// The path that a file is written to, and its name if it replaces no other file.
    func place(_ wanted: String, _ claimed: ClaimedPaths) throws(SystemError) -> (path: String, freeName: FreeName?) {
        let path = try path(wanted, claimed)
        guard keepsOldFiles else { return (path, nil) }
        return (path, FreeName(path) { try self.path(wanted, claimed) })
    }
}

/// A file whose name the server may choose in the head of its response; it replaces no existing file.
final class NamedByServerSink: ContentSink {
    private let fallback: String
    private let settings: FileSettings
    private let claimed: ClaimedPaths
    private let file = Locked<FileContentSink?>(nil)
    private let chosen = Locked<FreeName?>(nil)

    init(fallback: String, _ settings: FileSettings, _ claimed: ClaimedPaths) {
        self.fallback = fallback
        self.settings = settings
        self.claimed = claimed
    }

    var filePath: String? { chosen.withLock { $0 }?.path ?? fallback }
    var delivered: Int64 { file.withLock { $0 }?.delivered ?? 0 }

    func willReceive(_ response: HTTPResponse, from checkpoint: Download.Checkpoint?) async throws {
        guard file.withLock({ $0 == nil }) else { return }
        guard let name = response.headers["Content-Disposition"].flatMap(DispositionField.filename) else {
            _ = try opened()
            return
        }
        let path = Directory.above(fallback) + name
        let exists = refusal(path, "already exists; remove or rename it, or give another name with -o", response)
        guard !Directory.hasEntry(path) else { throw exists }
        // Nor the file of another URL of this run, which is created only when its content is complete.
        guard claimed.claim(path) else {
            throw refusal(path, "is also the file of another URL; use -o to name one for each", response)
        }
        _ = try open(path, FreeName(path) { throw exists })
    }

    private func refusal(_ path: String, _ reason: String, _ response: HTTPResponse) -> HTTPError {
        // The name keeps the error, so that must not have the request that leads back here.
        var request = response.request
        request.download = nil
        return HTTPError(
            .cannotCreateFile,
            request: request,
            message: "\(path), as the server names it, \(reason)",
            bytesSent: response.exchange.bytesSent
        )
    }

    private func opened() throws -> FileContentSink {
        if let sink = file.withLock({ $0 }) { return sink }
        let (path, freeName) = try settings.place(fallback, claimed)
        return try open(path, freeName)
    }

    private func open(_ path: String, _ freeName: FreeName?) throws -> FileContentSink {
        let sink = try FileContentSink(path: path, freeName)
        chosen.withLock { $0 = freeName }
        file.withLock { $0 = sink }
        return sink
    }

    func write(_ bytes: [UInt8]) async throws { try await opened().write(bytes) }
    func startOver() async throws { try await file.withLock { $0 }?.startOver() }
    func finish() throws { try opened().finish() }
    func discard() { file.withLock { $0 }?.discard() }
    func readBack(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool { try opened().readBack(body) }
}
