internal import Refrain

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Makes the jobs of a run: what each request is called in the state, and where its content goes.
struct JobList: Sendable {
    private let destination: Destination
    private let template: RequestTemplate
    private let isFlat: Bool
    private let hasState: Bool
    private let digests: DigestSettings
    private var remoteFiles: Set<String> = []
    private var occurrences: [String: Int] = [:]
    private var tree = OutputTree()
    /// How many requests have come.
    private var added = 0
    /// Files that no content may replace, with the option that reads or writes each.
    var reserved = ReservedFiles([:]) {
        didSet { if case .folder(let folder) = destination { isApart = reserved.isOutside(folder) } }
    }
    /// Whether none of those is in the output folder.
    private var isApart = false

    init(
        _ destination: Destination,
        _ template: RequestTemplate,
        isFlat: Bool,
        hasState: Bool,
        digests: DigestSettings
    ) {
        self.destination = destination
        self.template = template
        self.isFlat = isFlat
        self.hasState = hasState
        self.digests = digests
    }

    /// Whether requests need not be looked at before the first of them are made: none of them can be refused here.
    ///
    /// They are URLs alone, each for a file of its own in a folder that nothing else reads or writes in.
    func canWait(_ requests: [ListedRequest]) -> Bool {
        guard case .folder = destination, !digests.areGiven else { return false }
        return isApart && requests.allSatisfy(\.isBare)
    }

    /// The jobs of requests, without those that the list has had already.
    mutating func add(_ requests: [ListedRequest]) throws(UsageError) -> [GetSettings.Job] {
        var jobs: [GetSettings.Job] = []
        jobs.reserveCapacity(requests.count)
        for request in requests { if let job = try add(request) { jobs.append(job) } }
        return jobs
    }

    /// The job of a request; nil where the list has had it already.
    ///
    /// - Throws: ``UsageError`` for a request that cannot be made with these options.
    mutating func add(_ request: ListedRequest) throws(UsageError) -> GetSettings.Job? {
        let number = Self.incremented(&added) - 1
        var folder: String?
        if case .folder(let path) = destination { folder = path }
        // One file for one URL: what stands twice in a list of files is fetched once. Two equal orders are two.
        let isFetch =
            request.body == nil && template.isPlainGet && template.method(of: request) == .get && !request.asksForPart
        var place: String?
        // Of several files each is done alone; what must not be sent twice is the same request whatever its file.
        if case .each = destination, isFetch, case .file(let path) = destination.place(number) { place = path }
        var identity = identity(of: request, place)
        let count = Self.incremented(&occurrences[identity, default: 0])
        if count > 1 {
            if folder != nil, isFetch { return nil }
            identity += " #\(count)"
        }
        if request.output != nil, folder == nil {
            throw UsageError("\(request.place): \"output\" needs --output-dir DIR")
        }
        if !hasState, request.isLine, !template.method(of: request).isIdempotent {
            throw UsageError(
                "\(request.place): a \(template.method(of: request)) needs a place for its key; give --state FILE"
            )
        }
        var (file, relative): (String?, String?)
        if let folder {
            let name = name(of: request, identity, isFetch: isFetch)
            let path = Directory.path(folder, name)
            let isNamedByURL = request.output == nil
            if !(isApart && isNamedByURL), let option = reserved.option(thatUses: path) {
                throw UsageError(
                    "\(request.place): --output-dir would write over \(Sanitized.text(name)), which \(option) uses"
                )
            }
            (file, relative) = (path, name)
        } else if case .file(let path) = destination.place(number) {
            file = path
        } else if case .remoteNames(let folder) = destination {
            file = try remoteFile(request, folder)
        }
        do {
            let digest = try digests.expected(file: file, name: relative, url: request.url)
            return GetSettings.Job(request: request, identity: identity, file: file, name: relative, digest: digest)
        } catch {
            throw UsageError("\(request.place): \(error)")
        }
    }

    private static func incremented(_ count: inout Int) -> Int {
        count += 1
        return count
    }

    private mutating func remoteFile(_ request: ListedRequest, _ folder: String) throws(UsageError) -> String {
        guard let name = OutputNaming.remote(request.url) else {
            throw UsageError(
                "\(request.place): --remote-name: \(Sanitized.text(request.url)) names no file; use -o FILE"
            )
        }
        let path = folder.isEmpty ? name : Directory.path(folder, name)
        // Two contents in one file: the one that comes last would be all that is left.
        guard remoteFiles.insert(path).inserted else {
            throw UsageError(
                "\(request.place): --remote-name: two URLs name the file \(Sanitized.text(name)); use --output-dir DIR"
            )
        }
        return path
    }

    private func identity(of request: ListedRequest, _ place: String?) -> String {
        var content = request.bodyDigest
        // What proves who asks may be another one in the next run.
        for field in request.headers where !SecretFields.contains(field.name) {
            content += "\n\(field.name): \(field.value)"
        }
        if let key = request.key { content += "\nkey \(key)" }
        if let output = request.output ?? place { content += "\noutput \(output)" }
        content += template.digest
        // A part is another content than the whole.
        if let range = template.range { content += "\nRange: \(range)" }
        var url = template.url(of: request)
        // Letters beyond ASCII are sent percent-encoded, so both spellings are one request.
        if !url.isASCII, let sent = try? HTTPRequest(url) { url = sent.url.absoluteString }
        return TransferState.identity(
            method: template.method(of: request).rawValue,
            url: SanitizedURL.withoutFragment(SanitizedURL.text(url)),
            content: Array(content.utf8)
        )
    }

    private mutating func name(of request: ListedRequest, _ identity: String, isFetch: Bool) -> String {
        if let output = request.output { return output }
        // Several requests to one URL differ in what they send, so their files do as well.
        let url = template.url(of: request)
        let named = isFetch ? url : url + (url.contains("?") ? "&" : "?") + identity
        return isFlat ? OutputNaming.flat(named) : tree.path(of: named)
    }
}
