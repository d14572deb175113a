// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The progress of a download, and the decision whether a response continues it.
struct DownloadState: Hashable, Sendable {
    /// The number of bytes that the sink holds.
    var offset: Int64 = 0
    /// The total number of bytes, if known.
    var total: Int64?
    /// Where the wanted part of the content ends; nil: at the end of the content.
    var end: Int64?
    /// Identifies the version of the resource that the bytes belong to; nil: the download cannot be resumed.
    var validator: StrongValidator?
    /// The source of the bytes.
    ///
    /// A validator applies to one resource only (RFC 9110 §8.8.1).
    var source: Source?
    /// The header fields of the first response; a partial response need not repeat them (RFC 9110 §15.3.7).
    var head = HTTPHeaders()
    /// Whether the sink holds exactly these bytes.
    ///
    /// A failed write may have left some of its own.
    var isIntact = true
    /// What is known of the server's answers to a `Range` that no one but this stage asked for.
    var ranges = RangeSupport.assumed

    /// What is known of a server's answers to `Range`.
    enum RangeSupport: Hashable {
        /// Nothing speaks against asking for one.
        case assumed
        /// A request with `Range` was refused with this status, so the next one has none; with the validator of the
        /// bytes that were there.
        case doubted(HTTPStatus, validator: StrongValidator?)
        /// The same request was answered without `Range`, or the server sends parts as if they were the whole.
        case refused
    }

    /// The URLs that the bytes came from.
    struct Source: Hashable, Sendable {
        /// The URL of the request as it entered the stage.
        var requested: String
        /// The URL of the request as it was sent; later stages may complete or change it.
        var sent: String
    }

    /// How a response relates to the download.
    enum Continuation: Hashable {
        /// A number of bytes from the current offset on.
        case rest(length: Int64, total: Int64)
        /// A number of bytes from the beginning on, of a file of which only the beginning was requested.
        case beginning(length: Int64, total: Int64)
        /// The whole resource, from its beginning.
        case whole(total: Int64?)
        /// A part that does not continue the download, with the reason. The download must start over.
        case mismatch(String)
        /// The server refuses the request because of its `Range`, as far as the status tells.
        case rangeRefused
        /// A response without content of the download.
        case other

        /// The length of the whole resource, where that is what comes and its length is known.
        var total: Int64? { if case .whole(let total) = self { total } else { nil } }
    }

    /// Whether the sink is known to be empty.
    var isEmpty: Bool { offset == 0 && isIntact }

    /// Whether the rest can be requested from the same source.
    var canResume: Bool { offset > 0 && validator != nil && isIntact }

    /// Whether the rest can be requested.
    func canResume(with request: HTTPRequest) -> Bool {
        canResume && isSource(source?.requested, request)
    }

    /// Whether a URL is where the bytes came from.
    ///
    /// A redirect may sign the same URL anew each time, and so may the caller. With an entity tag, which a store makes
    /// of the object, the signature is not part of the source.
    private func isSource(_ known: String?, _ request: HTTPRequest) -> Bool {
        let url = Self.url(of: request)
        guard let known, known != url else { return known != nil }
        guard case .entityTag? = validator else { return false }
        return SignedURL.areOfOneObject(known, url, ignoring: request.ignoredQueryParameters)
    }

    /// Where the download is complete, if that is known.
    var goal: Int64? {
        guard let end, let total else { return end ?? total }
        return min(end, total)
    }

    /// Classifies the response to a request for the rest, for the whole, or for a range that the caller chose.
    func continuation(
        _ response: HTTPResponse,
        askedForRest: Bool,
        askedForBeginning: Bool = false,
        hasOwnRange: Bool = false
    ) -> Continuation {
        let asked = askedForRest || askedForBeginning
        switch response.status.rawValue {
        case 206 where askedForRest:
            return rest(response)
        case 206 where askedForBeginning:
            return beginning(response)
        case 304 where askedForBeginning && !Self.isConditional(response.request),
            416 where askedForBeginning:
            // An empty file has no range, either (RFC 9110 §15.5.17).
            return .mismatch("the server has no such range")
        case 206 where hasOwnRange && Self.isOutsideOwnRange(response):
            return .mismatch("another part of the content came than the one that was asked for")
        case 206 where !hasOwnRange && !Self.isWhole(response):
            return .mismatch("a part of the content came, and the request asked for all of it")
        case 200..<300 where !hasOwnRange && !Self.isWholeByItsFields(response, asked: asked):
            return .mismatch("the server sent a part with status \(response.status), which is for the whole")
        // If-Range never leads to a 304 (RFC 9110 §13.1.5), and the request for the rest has no other condition.
        case 304 where askedForRest || !Self.isConditional(response.request):
            return .mismatch("the server says that the content is here already, which the request did not")
        case 416 where askedForRest:
            return .mismatch("the server has no such range any more")
        case 412 where askedForRest && !Self.hasPrecondition(response.request):
            // RFC 9110 §13.1.5 asks for the whole where If-Range does not match; some servers fail it instead.
            return .mismatch("the server says that the content has changed")
        case 200..<300:
            return .whole(total: response.expectedLength)
        case 400, 403, 405, 501:
            return asked && !Self.isLimit(response) ? .rangeRefused : .other
        default:
            return .other
        }
    }

    /// Whether the caller's request is conditional, so that a 304 is a valid response (RFC 9110 §13.1).
    private static func isConditional(_ request: HTTPRequest) -> Bool {
        request.headers.contains("If-None-Match") || request.headers.contains("If-Modified-Since")
    }

    /// Whether the caller's request has a condition that fails with 412 (RFC 9110 §13.1).
    private static func hasPrecondition(_ request: HTTPRequest) -> Bool {
        request.headers.contains("If-Match") || request.headers.contains("If-Unmodified-Since")
    }

    /// Whether the body is multipart, with a head per part (RFC 9110 §14.6).
    private static func hasParts(_ response: HTTPResponse) -> Bool {
        let type = MediaType.parse(fieldValues: response.headers[values: "Content-Type"])
        return type?.essence == "multipart/byteranges"
    }

    /// Whether a server refuses a request because there were too many.
    private static func isLimit(_ response: HTTPResponse) -> Bool {
        response.headers.contains("Retry-After")
            || ["RateLimit-Remaining", "X-RateLimit-Remaining"].contains { response.headers[$0] == "0" }
    }

    /// Whether the fields of a response other than 206 agree that its body is the whole.
    ///
    /// `Content-Range` has no meaning there (RFC 9110 §14.4), but some file services send a part with 200 and this
    /// field. Where a range was asked for, only the range of the whole is accepted.
    private static func isWholeByItsFields(_ response: HTTPResponse, asked: Bool) -> Bool {
        guard response.status != .partialContent else { return true }
        let fields = response.headers[values: "Content-Range"]
        guard !fields.isEmpty else { return !asked || !hasParts(response) }
        switch ContentRange.parse(fieldValues: fields) {
        case .part(0, let last, let total?):
            return !hasParts(response) && last == total - 1 && response.expectedLength ?? total == total
        case .part(0, let last, nil):
            return !asked && response.expectedLength.map { $0 - 1 } == last
        case .part:
            return false
        case .unsatisfied(let total):
            return !asked && response.expectedLength ?? total == total
        case nil:
            return !asked
        }
    }

    private static func isWhole(_ response: HTTPResponse) -> Bool {
        guard !hasParts(response),
            case .part(0, let last, let total?) = ContentRange.parse(
                fieldValues: response.headers[values: "Content-Range"]
            )
        else { return false }
        return last == total - 1
    }

    /// Whether a part does not begin where the caller's range does, or goes beyond its end (RFC 9110 §15.3.7).
    ///
    /// False for a request for several ranges, and for a part without a readable `Content-Range`.
    private static func isOutsideOwnRange(_ response: HTTPResponse) -> Bool {
        guard
            case .part(let first, let last, let total) = ContentRange.parse(
                fieldValues: response.headers[values: "Content-Range"]
            ),
            let range = response.request.headers["Range"]?.lowercased(), range.hasPrefix("bytes=")
        else { return false }
        let bounds = range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
        guard bounds.count == 2 else { return false }
        switch (bounds[0], bounds[1]) {
        case (let from?, let end): return first != from || last > end ?? last
        case (nil, let length?): return total.map { first != max($0 - length, 0) } ?? false
        case (nil, nil): return false
        }
    }

    /// The request's URL without its fragment.
    private static func url(of request: HTTPRequest) -> String {
        let text = request.url.absoluteString
        return text.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(text[..<$0]) } ?? text
    }

    /// Classifies a part that was requested from the beginning on: without a strong validator no other part belongs to
    /// it for certain.
    private func beginning(_ response: HTTPResponse) -> Continuation {
        guard !response.headers.contains("Content-Encoding"), !Self.hasParts(response),
            case .part(0, let last, let total?) = ContentRange.parse(
                fieldValues: response.headers[values: "Content-Range"]
            ),
            last < end ?? total
        else { return .mismatch("the part is not the one that was asked for") }
        return .beginning(length: last + 1, total: total)
    }

    private func rest(_ response: HTTPResponse) -> Continuation {
        guard isSource(source?.sent, response.request) else {
            return .mismatch("the rest came from another place than the beginning")
        }
        guard !response.headers.contains("Content-Encoding") else {
            return .mismatch("the rest came in another coding")
        }
        guard !Self.hasParts(response) else { return .mismatch("the rest came in several parts") }
        guard
            case .part(let first, let last, let newTotal) = ContentRange.parse(
                fieldValues: response.headers[values: "Content-Range"]
            )
        else { return .mismatch("the rest came without a single readable Content-Range") }
        guard first == offset else { return .mismatch("the rest begins at \(first) instead of \(offset)") }
        if let total, let newTotal, total != newTotal {
            return .mismatch("the whole has \(newTotal) bytes now instead of \(total)")
        }
        guard let total = newTotal ?? total else {
            return .mismatch("the rest came without a word on how long the whole is")
        }
        guard last < total else { return .mismatch("the rest ends at \(last), behind the end at \(total)") }
        if let end, last >= end { return .mismatch("the part ends at \(last) instead of \(end - 1)") }
        guard Self.isSame(validator, response) else { return .mismatch("the content has changed since the beginning") }
        return .rest(length: last - first + 1, total: total)
    }

    /// Whether the response's validator matches that of the first response.
    ///
    /// A partial response has the entity tag of the whole (RFC 9110 §15.3.7), so one without it does not match. It may
    /// omit `Last-Modified`.
    private static func isSame(_ validator: StrongValidator?, _ response: HTTPResponse) -> Bool {
        let tags = response.headers[values: "ETag"]
        switch validator {
        case .entityTag(let tag):
            return EntityTag.parse(fieldValues: tags).map { $0.isStronglyEqual(to: tag) } ?? false
        case .lastModified(let date):
            let dates = response.headers[values: "Last-Modified"]
            return tags.isEmpty && (dates.isEmpty || HTTPDate.parse(fieldValues: dates, now: .now) == date)
        case nil:
            return false
        }
    }

    /// What is known of ranges after a response with the whole.
    func ranges(afterWhole response: HTTPResponse) -> RangeSupport {
        guard case .doubted(let status, let validator) = ranges else { return ranges }
        guard [.rangeNotSatisfiable, 412].contains(status) else { return .refused }
        // The content may have become shorter, or is empty, which says nothing about the server.
        guard let validator else { return response.expectedLength ?? 0 > 0 ? .refused : .assumed }
        return Self.isSame(validator, response) ? .refused : .assumed
    }

    /// What is known of ranges after a response that does not continue the download.
    func ranges(afterMismatch response: HTTPResponse) -> RangeSupport {
        switch response.status.rawValue {
        case 206, 304: ranges
        case 412, 416: .doubted(response.status, validator: validator)
        default: .refused
        }
    }

    /// The state at the start of a response that contains the whole resource.
    static func atStart(of response: HTTPResponse, to request: HTTPRequest, now: WallClock.Instant) -> DownloadState {
        atStart(of: response, to: request, ranges: response.status == .ok, now: now)
    }

    /// The state at the start of a response that contains the beginning; nil: it cannot be continued.
    static func atBeginning(
        of response: HTTPResponse,
        to request: HTTPRequest,
        total: Int64,
        end: Int64?,
        now: WallClock.Instant
    ) -> DownloadState? {
        var state = atStart(of: response, to: request, ranges: true, now: now)
        (state.total, state.end) = (total, end)
        return state.validator == nil ? nil : state
    }

    private static func atStart(
        of response: HTTPResponse,
        to request: HTTPRequest,
        ranges: Bool,
        now: WallClock.Instant
    ) -> DownloadState {
        var state = DownloadState(total: response.expectedLength)
        let isCoded = response.headers.contains("Content-Encoding")
        let hasRanges = response.headers["Accept-Ranges"]?.lowercased() != "none"
        if !isCoded, hasRanges, ranges {
            let tags = response.headers[values: "ETag"]
            // With a tag no date counts, so none is looked for.
            state.validator = StrongValidator.find(
                entityTag: tags,
                lastModified: tags.isEmpty ? response.headers[values: "Last-Modified"] : [],
                date: tags.isEmpty ? response.headers[values: "Date"] : [],
                wallClock: now
            )
            state.source = Source(requested: url(of: request), sent: url(of: response.request))
            state.head = response.headers
        }
        return state
    }

    /// The fields that describe the whole representation, whichever part a message contains.
    static let describingFields = [
        "Content-Type", "Content-Language", "Content-Location", "Content-Disposition", "ETag", "Last-Modified",
        "Repr-Digest",
    ]

    /// The fields of a response with the rest, completed by those of the first response.
    func completed(_ headers: HTTPHeaders) -> HTTPHeaders {
        var completed = headers
        for name in Self.describingFields where !headers.contains(name) {
            for value in head[values: name] { completed.add(name, value) }
        }
        return completed
    }
}
