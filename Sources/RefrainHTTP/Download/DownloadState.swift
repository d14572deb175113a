/// How far a download has come, and whether a response goes on from there: values only.
struct DownloadState: Hashable, Sendable {
    /// The bytes that the sink holds.
    var offset: Int64 = 0
    /// The bytes of the whole, where they are known.
    var total: Int64?
    /// What proves that further bytes belong to these; nil: nothing does, and a cut starts over.
    var validator: StrongValidator?

    /// What a response is to this download.
    enum Continuation: Hashable {
        /// The rest, from the byte where the download stands; so many bytes, where that is known.
        case rest(length: Int64, total: Int64?)
        /// The whole, from its beginning.
        case whole(total: Int64?)
        /// A part of something else: the download must be asked for anew, from its beginning.
        case mismatch(String)
        /// No content of the download at all.
        case other
    }

    /// Whether the next request can ask for the rest.
    var canResume: Bool { offset > 0 && validator != nil }

    /// Judges a response to a request that asked for the rest, or for the whole.
    func continuation(_ response: HTTPResponse, askedForRest: Bool) -> Continuation {
        switch response.status.rawValue {
        case 206 where askedForRest:
            return rest(response)
        case 416 where askedForRest:
            return .mismatch("the server has no such range any more")
        case 200..<300:
            return .whole(total: Self.length(of: response))
        default:
            return .other
        }
    }

    private func rest(_ response: HTTPResponse) -> Continuation {
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
        guard isSameRepresentation(response) else { return .mismatch("the content has changed since the beginning") }
        return .rest(length: last - first + 1, total: newTotal ?? total)
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
    static func atStart(of response: HTTPResponse, now: WallInstant) -> DownloadState {
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
        }
        return state
    }

    private static func length(of response: HTTPResponse) -> Int64? {
        guard !response.headers.contains("Content-Encoding") else { return nil }
        guard case .bytes(let count) = ContentLength.parse(fieldValues: response.headers[values: "Content-Length"])
        else { return nil }
        return count
    }
}
