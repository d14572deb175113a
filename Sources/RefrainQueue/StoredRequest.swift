// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A request as a row has it: head, body and key.
///
/// The head is text: a line with method and URL, a line for each option, which begins with a colon, and the header
/// fields. Secrets are left out; the worker's session adds them when it sends the request.
package struct StoredRequest: Sendable, Hashable {
    /// How often a request may be sent whose last result is not known.
    package enum Safety: Int64, Sendable {
        /// Once: it is not idempotent and has no key, or the caller forbids a second time.
        case once = 0
        /// Again as long as the server keeps its key.
        case keyed = 1
        /// Again at any time.
        case repeatable = 2
    }

    package var head: String
    package var body: [UInt8]
    /// A file that holds the body, in place of `body`.
    package var file: FileReference?
    /// The value of the key's field.
    package var key: String?
    package var safety: Safety

    package init(head: String, body: [UInt8], file: FileReference?, key: String?, safety: Safety) {
        (self.head, self.body, self.file, self.key, self.safety) = (head, body, file, key, safety)
    }

    /// The largest body that a row contains; a larger one stays in its file.
    static let bodyLimit = 1 << 20

    /// Makes the stored form of a request, whose key is made here.
    ///
    /// - Throws: ``QueueError`` for a request that is invalid, or whose body is a stream, or a large one in memory.
    init(_ request: HTTPRequest) throws(QueueError) {
        let keyed: HTTPRequest
        do throws(HTTPError) {
            keyed = try request.withIdempotencyKeyWritten().validated()
        } catch {
            throw QueueError(.invalidRequest, error.message ?? "\(error)")
        }
        let field = keyed.idempotencyKeyField
        // Without a key nothing else reads it, and a line feed in it would be another line of the head.
        guard HTTPToken.isValid(field) else {
            throw QueueError(.invalidRequest, "the name of the key's field is not a token (RFC 9110 §5.1)")
        }
        key = keyed.hasIdempotencyKey ? keyed.headers[field] : nil
        safety =
            switch keyed.replay {
            case .forbidden: .once
            case .allowed: .repeatable
            case .automatic: keyed.method.isIdempotent ? .repeatable : key == nil ? .once : .keyed
            }
        head = Self.head(of: keyed, without: field)
        switch keyed.body.storage {
        case .bytes(let bytes):
            guard bytes.count <= Self.bodyLimit else {
                let advice = "write it to a file, and enqueue .file(path)"
                throw QueueError(.bodyTooLarge, "a body of \(bytes.count) bytes is too large for a row: \(advice)")
            }
            body = Array(bytes)
        case .file(let path): (body, file) = try FileReference.read(path, upTo: Self.bodyLimit)
        case .restartable, .oneShot:
            throw QueueError(.invalidRequest, "the body is a stream, which ends with the process: collect it first")
        }
    }

    /// The request to send; its file has to be checked.
    ///
    /// - Throws: ``QueueError`` for a head that this version does not know.
    func request() throws(QueueError) -> HTTPRequest {
        var lines = head.split(separator: "\n", omittingEmptySubsequences: true)[...]
        guard let start = lines.popFirst(), let space = start.firstIndex(of: " "),
            let url = URL(string: String(start[start.index(after: space)...]))
        else { throw QueueError(.foreign, "the row has no request of this version") }
        var request = HTTPRequest(url, method: HTTPMethod(rawValue: String(start[..<space])))
        if let file {
            request.body = .file(file.path)
        } else if !body.isEmpty {
            request.body = .bytes(body)
        }
        for line in lines {
            // By bytes: a combining mark at the beginning of a value makes one character with the space before it.
            let bytes = line.utf8
            guard let colon = bytes.dropFirst().firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = String(line[..<colon])
            let value = String(Substring(bytes[colon...].dropFirst().drop { $0 == UInt8(ascii: " ") }))
            if name.hasPrefix(":") { Self.set(name, value, on: &request) } else { request.headers.add(name, value) }
        }
        if let key { request.headers[request.idempotencyKeyField] = key }
        return request
    }

    // MARK: The head

    private static func head(of request: HTTPRequest, without keyField: String) -> String {
        var text = "\(request.method) \(URLText.redacted(request.url, hiding: { _ in false }))\n"
        func add(_ name: String, _ value: String?) { if let value { text += "\(name): \(value)\n" } }
        add(":type", request.body.contentType)
        add(":replay", request.replay == .automatic ? nil : request.replay.rawValue)
        add(":attempt-timeout", request.attemptTimeout.map { "\($0.inMilliseconds)" })
        add(":redirects", request.followsRedirects ? nil : "no")
        add(":key-field", HTTPHeaders.isSame(keyField, HTTPRequest.IdempotencyKey.fieldName) ? nil : keyField)
        for name in request.secretHeaders.sorted() where HTTPToken.isValid(name) { add(":secret", name) }
        for field in request.headers where !HTTPHeaders.isSame(field.name, keyField) {
            let isSecret =
                SecretNames.contains(field: field.name)
                || request.secretHeaders.contains { HTTPHeaders.isSame($0, field.name) }
            if !isSecret { text += "\(field.name): \(field.value)\n" }
        }
        return text
    }

    private static func set(_ name: String, _ value: String, on request: inout HTTPRequest) {
        switch name {
        case ":type": request.body.contentType = value
        case ":replay": request.replay = HTTPRequest.Replay(rawValue: value) ?? .forbidden
        case ":attempt-timeout": request.attemptTimeout = Int64(value).map { .milliseconds($0) }
        case ":redirects": request.followsRedirects = value != "no"
        case ":key-field": request.idempotencyKeyField = value
        case ":secret": request.secretHeaders.insert(value)
        default: break
        }
    }

    /// The method.
    var method: HTTPMethod { HTTPMethod(rawValue: String(head.prefix { $0 != " " })) }

    /// Method and URL.
    static func title(ofHead head: String) -> String { String(head.prefix { $0 != "\n" }) }
}
