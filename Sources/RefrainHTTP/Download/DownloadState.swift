#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How far a download has come, and whether a response goes on from there: values only.
struct DownloadState: Hashable, Sendable {
    /// The bytes that the sink holds.
    var offset: Int64 = 0
    /// The bytes of the whole, where they are known.
    var total: Int64?
    /// What proves that further bytes belong to these; nil: nothing does, and a cut starts over.
    var validator: StrongValidator?
    /// What the bytes came from: a validator says nothing of other resources (RFC 9110 §8.8.1).
    var source: Source?
    /// The fields that the bytes came with; a part need not repeat them (RFC 9110 §15.3.7).
    var head = HTTPHeaders()
    /// Whether the sink holds these bytes and no others; a write that has failed may have left some of its own.
    var isIntact = true

    /// Where bytes came from.
    struct Source: Hashable, Sendable {
        /// The URL that was asked for, as the request came.
        var asked: String
        /// The URL that answered: stages further in may complete the one that was asked for, or change it.
        var answered: String
    }

    /// What a response is to this download.
    enum Continuation: Hashable {
        /// The rest, or the beginning of it, from the byte where the download stands: so many bytes.
        case rest(length: Int64, total: Int64)
        /// The whole, from its beginning.
        case whole(total: Int64?)
        /// A part of something else: the download must be asked for anew, from its beginning.
        case mismatch(String)
        /// No content of the download at all.
        case other
    }

    /// Whether the sink is known to hold nothing.
    var isEmpty: Bool { offset == 0 && isIntact }

    /// Whether the rest can be asked for where the bytes came from.
    var canResume: Bool { offset > 0 && validator != nil && isIntact }

    /// Whether a request can ask for the rest.
    func canResume(with request: HTTPRequest) -> Bool { canResume && source?.asked == Self.place(of: request) }

    /// Judges a response to a request that asked for the rest, for the whole, or for a part of its caller's choosing.
    func continuation(_ response: HTTPResponse, askedForRest: Bool, hasOwnRange: Bool = false) -> Continuation {
        switch response.status.rawValue {
        case 206 where askedForRest:
            return rest(response)
        case 206 where !hasOwnRange && !Self.isWhole(response):
            return .mismatch("a part came that was not asked for")
        case 416 where askedForRest:
            return .mismatch("the server has no such range any more")
        case 200..<300:
            return .whole(total: Self.length(of: response))
        default:
            return .other
        }
    }

    private static func isWhole(_ response: HTTPResponse) -> Bool {
        guard
            case .part(0, let last, let total?) = ContentRange.parse(
                fieldValues: response.headers[values: "Content-Range"]
            )
        else { return false }
        return last == total - 1
    }

    /// The URL of a request as far as it is sent.
    private static func place(of request: HTTPRequest) -> String {
        let text = request.url.absoluteString
        return text.firstIndex(of: "#").map { String(text[..<$0]) } ?? text
    }

    private func rest(_ response: HTTPResponse) -> Continuation {
        guard source?.answered == Self.place(of: response.request) else {
            return .mismatch("the rest came from another place than the beginning")
        }
        guard !response.headers.contains("Content-Encoding") else {
            return .mismatch("the rest came in another coding")
        }
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
        guard isSameRepresentation(response) else { return .mismatch("the content has changed since the beginning") }
        return .rest(length: last - first + 1, total: total)
    }

    /// Whether what the response says of its version agrees with the version of the beginning.
    private func isSameRepresentation(_ response: HTTPResponse) -> Bool {
        switch validator {
        case .entityTag(let tag):
            let tags = response.headers[values: "ETag"]
            return tags.isEmpty || EntityTag.parse(fieldValues: tags).map { $0.isStronglyEqual(to: tag) } ?? false
        case .lastModified(let date):
            let dates = response.headers[values: "Last-Modified"]
            return dates.isEmpty || HTTPDate.parse(fieldValues: dates, now: .now) == date
        case nil:
            return false
        }
    }

    /// The state at the beginning of a response that brings the whole.
    static func atStart(of response: HTTPResponse, to request: HTTPRequest, now: WallInstant) -> DownloadState {
        var state = DownloadState(total: length(of: response))
        let isCoded = response.headers.contains("Content-Encoding")
        let hasRanges = response.headers["Accept-Ranges"]?.lowercased() != "none"
        if !isCoded, hasRanges, response.status == .ok {
            state.validator = StrongValidator.find(
                entityTag: response.headers[values: "ETag"],
                lastModified: response.headers[values: "Last-Modified"],
                date: response.headers[values: "Date"],
                wallClock: now
            )
            state.source = Source(asked: place(of: request), answered: place(of: response.request))
            state.head = response.headers
        }
        return state
    }

    /// The fields that describe the content as a whole, whichever part of it a message brings.
    private static let describingFields = [
        "Content-Type", "Content-Language", "Content-Location", "Content-Disposition", "ETag", "Last-Modified",
        "Repr-Digest",
    ]

    /// The fields of a response that brought the rest, with what it left out of those of the beginning.
    func completed(_ headers: HTTPHeaders) -> HTTPHeaders {
        var completed = headers
        for name in Self.describingFields where !headers.contains(name) {
            for value in head[values: name] { completed.add(name, value) }
        }
        return completed
    }

    private static func length(of response: HTTPResponse) -> Int64? {
        guard !response.headers.contains("Content-Encoding") else { return nil }
        guard case .bytes(let count) = ContentLength.parse(fieldValues: response.headers[values: "Content-Length"])
        else { return nil }
        return count
    }
}
