// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Makes the jobs of a run: the identity of each request in the state, and the destination of its content.
struct JobList: Sendable {
    private let destination: Destination
    private let template: RequestTemplate
    /// The output folder, with a slash at its end; nil: there is none.
    private let folder: String?
    private let isFlat: Bool
    private let hasState: Bool
    private let digests: DigestSettings
    private var remoteFiles: Set<String> = []
    private var occurrences: [String: Int] = [:]
    private var tree = OutputTree()
    /// The number of requests so far.
    private var added = 0
    /// Files that no body may replace, with the option that reads or writes each.
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
        folder = if case .folder(let path) = destination { Directory.path(path, "") } else { nil }
        self.template = template
        self.isFlat = isFlat
        self.hasState = hasState
        self.digests = digests
    }

    /// Whether requests can be sent before all of them were validated, because none of them can be refused here.
    ///
    /// They are only URLs, each with its own file in a folder that no other option reads or writes.
    func canWait(_ requests: [ListedRequest]) -> Bool {
        guard case .folder = destination, !digests.areGiven else { return false }
        return isApart && requests.allSatisfy(\.isBare)
    }

    /// Makes room for this many further requests.
    mutating func reserveCapacity(_ count: Int) { occurrences.reserveCapacity(occurrences.count + count) }

    /// The jobs of requests, without duplicates.
    mutating func add(_ requests: [ListedRequest]) throws(UsageError) -> [FetchJob] {
        var jobs: [FetchJob] = []
        jobs.reserveCapacity(requests.count)
        for request in requests { if let job = try add(request) { jobs.append(job) } }
        return jobs
    }

    /// The jobs of further requests, without a change of this list.
    func adding(_ requests: [ListedRequest]) throws(UsageError) -> [FetchJob] {
        var copy = self
        return try copy.add(requests)
    }

    /// The job of a request; nil for a duplicate.
    ///
    /// - Throws: ``UsageError`` for a request that conflicts with the options.
    mutating func add(_ request: ListedRequest) throws(UsageError) -> FetchJob? {
        let number = Self.incremented(&added) - 1
        let method = template.method(of: request)
        // One file per URL: a duplicate in a list of files is fetched once. Two equal POST requests are two.
        let isFetch = request.body == nil && template.isPlainGet && method == .get && !request.asksForPart
        // Most URLs are in the form that equal ones share, which costs one look instead of ten.
        let isNormal = template.sendsURLsAsGiven && URLText.isNormal(request.url)
        let url =
            isNormal ? request.url : isFetch ? template.objectURL(of: request) : template.url(of: request)
        var output: String?
        // With several files each is a separate request; one that must not be sent twice is the same whatever its file.
        if case .each = destination, isFetch, case .file(let path) = destination.destination(of: number) {
            output = path
        }
        let named = isNormal ? url : Self.canonical(isFetch ? url : SanitizedURL.text(url))
        var identity = identity(of: request, method, named, output)
        var old = hasState && !method.isSafe ? oldIdentity(of: request, output) : nil
        // Two spellings of one URL are one file (RFC 3986 §6.2.2).
        let isEscaped = isFetch && folder != nil && identity.contains(byte: UInt8(ascii: "%"))
        let counted = isEscaped ? SanitizedURL.withoutNeedlessEscapes(identity) : identity
        let count = Self.incremented(&occurrences[counted, default: 0])
        if count > 1 {
            if folder != nil, isFetch { return nil }
            identity += " #\(count)"
            old? += " #\(count)"
        }
        if request.output != nil, folder == nil {
            throw UsageError("\(request.position): \"output\" needs --output-dir DIR")
        }
        if !hasState, request.isLine, !method.isIdempotent {
            throw UsageError("\(request.position): a \(method) needs a place for its outcome; give --state FILE")
        }
        var (file, relative): (String?, String?)
        if let folder {
            // Several requests to one URL differ in what they send, so their files do as well.
            let source = isFetch ? url : url + (url.contains("?") ? "&" : "?") + identity
            let name = request.output ?? (isFlat ? OutputNaming.flat(source) : tree.path(of: source))
            let path = folder + name
            let isNamedByURL = request.output == nil
            if !(isApart && isNamedByURL), let option = reserved.option(thatUses: path) {
                throw UsageError(
                    "\(request.position): --output-dir would write over \(Sanitized.text(name)), which \(option) uses"
                )
            }
            (file, relative) = (path, name)
        } else if case .file(let path) = destination.destination(of: number) {
            file = path
        } else if case .remoteNames(let folder) = destination {
            file = try remoteFile(request, folder)
        }
        do {
            let digest = try digests.expected(file: file, name: relative, url: request.url)
            return FetchJob(
                request: request,
                identity: identity,
                oldIdentity: old,
                file: file,
                name: relative,
                digest: digest
            )
        } catch {
            throw UsageError("\(request.position): \(error)")
        }
    }

    private static func incremented(_ count: inout Int) -> Int {
        count += 1
        return count
    }

    private mutating func remoteFile(_ request: ListedRequest, _ folder: String) throws(UsageError) -> String {
        guard let name = OutputNaming.remote(request.url) else {
            throw UsageError(
                "\(request.position): --remote-name: \(Sanitized.text(request.url)) names no file; use -o FILE"
            )
        }
        let path = folder.isEmpty ? name : Directory.path(folder, name)
        if let option = reserved.option(thatWrites: path) {
            throw UsageError(
                "\(request.position): --remote-name would write over \(Sanitized.text(path)), which \(option) uses"
            )
        }
        // Otherwise the last of two bodies would replace the first.
        guard remoteFiles.insert(path).inserted else {
            throw UsageError(
                "\(request.position): --remote-name: two URLs name the file \(Sanitized.text(name)); use --output-dir DIR"
            )
        }
        return path
    }

    private func identity(
        of request: ListedRequest,
        _ method: HTTPMethod,
        _ url: String,
        _ output: String?
    ) -> String {
        var content = request.bodyDigest
        for field in request.headers { content += "\n\(field.name): \(field.value)" }
        if let key = request.key { content += "\nkey \(key)" }
        if let output = request.output ?? output { content += "\noutput \(output)" }
        content += template.digest
        // A part is a different content.
        if let range = template.range { content += "\nRange: \(range)" }
        content += template.senderDigest(of: request)
        return ListEntry.identity(method: method.rawValue, url: url, content: Array(content.utf8))
    }

    /// A URL as an identity has it.
    private static func canonical(_ url: String) -> String {
        // Letters beyond ASCII are sent percent-encoded, so both spellings are one request.
        let sent = url.isASCII ? url : (try? HTTPRequest(url))?.url.absoluteString ?? url
        return SanitizedURL.canonical(SanitizedURL.withoutFragment(sent))
    }

    /// The identity that earlier versions gave a request.
    private func oldIdentity(of request: ListedRequest, _ output: String?) -> String {
        var content = request.bodyDigest
        // Credentials may differ in the next run.
        for field in request.headers where !SecretFields.contains(field.name) {
            content += "\n\(field.name): \(field.value)"
        }
        if let key = request.key { content += "\nkey \(key)" }
        if let output = request.output ?? output { content += "\noutput \(output)" }
        content += template.digest
        // A part is a different content.
        if let range = template.range { content += "\nRange: \(range)" }
        var url = template.url(of: request)
        // Letters beyond ASCII are sent percent-encoded, so both spellings are one request.
        if !url.isASCII, let sent = try? HTTPRequest(url) { url = sent.url.absoluteString }
        return ListEntry.identity(
            method: template.method(of: request).rawValue,
            url: SanitizedURL.withoutFragment(SanitizedURL.text(url)),
            content: Array(content.utf8)
        )
    }
}
