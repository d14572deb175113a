// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a cancelled download leaves for a later one, of this process or another: where its bytes are, what they belong
/// to, and what proves that further bytes belong to them (rule R11).
///
/// Credentials are not in it, neither as header fields nor in a URL.
struct ResumeData: Codable, Sendable {
    private var version = 1
    /// The URL of the request.
    let url: String
    /// The header fields of the request, as pairs.
    private let headers: [[String]]
    /// The hidden file with the bytes.
    private let path: String
    private let offset: Int64
    private let total: Int64?
    /// The value of `If-Range`.
    private let validator: String
    private let requested: String
    private let answered: String
    private let fields: [[String]]

    init(_ request: HTTPRequest, path: String, _ checkpoint: Download.Checkpoint) {
        var request = request
        request.dropCredentials()
        url = Self.withoutUserinfo(request.url.absoluteString)
        headers = request.headers.map { [$0.name, $0.value] }
        self.path = path
        offset = checkpoint.offset
        total = checkpoint.total
        validator = checkpoint.validator
        requested = Self.withoutUserinfo(checkpoint.requestedURL)
        answered = Self.withoutUserinfo(checkpoint.answeringURL)
        fields = checkpoint.fields.map { [$0.name, $0.value] }
    }

    /// Reads what ``encoded`` wrote.
    ///
    /// - Throws: `InvalidArgument` for data that is none of this kind.
    init(decoding data: Data) throws {
        guard let decoded = try? JSONDecoder().decode(ResumeData.self, from: data), decoded.version == 1,
            decoded.offset >= 0, (decoded.headers + decoded.fields).allSatisfy({ $0.count == 2 })
        else {
            throw InvalidArgument("resumeData", is: "\(data.count) bytes", expected: "the resumeData of a download")
        }
        self = decoded
    }

    /// The data as JSON.
    var encoded: Data? { try? JSONEncoder().encode(self) }

    /// The request for the whole, which becomes one for the rest when it is sent.
    func request() throws -> HTTPRequest { try HTTPRequest(url, headers: Self.headers(headers)) }

    /// Opens the file with the bytes; nil if it is gone or cannot be continued, so that the download starts over.
    func open(for target: String) -> (Download.FileSink, Download.Checkpoint)? {
        let checkpoint = Download.Checkpoint(
            offset: offset,
            total: total,
            validator: validator,
            requestedURL: requested,
            answeringURL: answered,
            fields: Self.headers(fields)
        )
        guard let checkpoint, let sink = try? Download.FileSink(path: target, continuing: path, at: offset) else {
            return nil
        }
        return (sink, checkpoint)
    }

    private static func withoutUserinfo(_ text: String) -> String {
        guard var parts = URLComponents(string: text), parts.user != nil || parts.password != nil else { return text }
        parts.user = nil
        parts.password = nil
        return parts.string ?? text
    }

    private static func headers(_ pairs: [[String]]) -> HTTPHeaders {
        HTTPHeaders(pairs.compactMap { $0.count == 2 ? ($0[0], $0[1]) : nil })
    }
}
