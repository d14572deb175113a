// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension HTTPRequest {
    /// Makes a request that is not idempotent safe to repeat: the server recognizes a second copy by its key (rule R5).
    ///
    /// The key travels in `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), as a structured-field string,
    /// or as it is in the field that ``HTTPRequest/idempotencyKeyField`` names. It is the same on every attempt of one
    /// call, also where an adapter makes another one for each, and in every run of the operation of a `Task.retrying`
    /// around it. Every chain and every transport of this package writes it; no particular stage is needed.
    ///
    /// ```swift
    /// var order = try HTTPRequest(
    ///     "https://api.example.com/orders",
    ///     method: .post,
    ///     body: .text("one tea")
    /// )
    /// order.idempotencyKey = .generated
    /// ```
    public enum IdempotencyKey: Hashable, Sendable {
        /// No key, unless the request's own header fields have one.
        case none
        /// A new random key for each call.
        case generated
        /// A key of the caller's: printable ASCII, and not empty.
        case custom(String)

        /// The default name of the header field.
        public static let fieldName = "Idempotency-Key"
    }
}

private enum IdempotencyKeyOption: HTTPRequestOption {
    static let defaultValue = HTTPRequest.IdempotencyKey.none
}

private enum IdempotencyKeyFieldOption: HTTPRequestOption {
    static let defaultValue = HTTPRequest.IdempotencyKey.fieldName
}

private enum RetainedKeyOption: HTTPRequestOption {
    static let defaultValue: String? = nil
}

extension HTTPRequest {
    /// The idempotency key of this request.
    public var idempotencyKey: IdempotencyKey {
        get { self[option: IdempotencyKeyOption.self] }
        set { self[option: IdempotencyKeyOption.self] = newValue }
    }

    /// The header field that the server reads the key from, such as `X-Idempotency-Key` or `PayPal-Request-Id`.
    ///
    /// Defaults to `Idempotency-Key`, whose value is a quoted string; in any other field the key is sent without
    /// quotes. A redirect to another origin drops the field. A name that is not a token fails the request with
    /// ``HTTPError/Code/invalidRequest``.
    public var idempotencyKeyField: String {
        get { self[option: IdempotencyKeyFieldOption.self] }
        set { self[option: IdempotencyKeyFieldOption.self] = newValue }
    }

    /// Whether the request has a key, as an option or as a field; an empty one does not count.
    public var hasIdempotencyKey: Bool {
        if writtenKey != nil { return true }
        switch idempotencyKey {
        case .none: return false
        case .generated: return true
        case .custom(let key): return !key.isEmpty
        }
    }

    /// The value of the key's header field; nil where there is none or an empty one.
    private var writtenKey: String? {
        guard let written = headers[idempotencyKeyField] else { return nil }
        return written.contains { $0 != "\"" && $0 != " " && $0 != "\t" } ? written : nil
    }

    /// This request with its key written into its header fields.
    ///
    /// Chains, stages that send a request more than once and transports call it; a key that is written is kept.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidRequest`` for a key that cannot be written.
    package func withIdempotencyKeyWritten() throws(HTTPError) -> HTTPRequest {
        let key = idempotencyKey
        let name = idempotencyKeyField
        if let retainedKey, key != .none || writtenKey != nil {
            guard writtenKey != retainedKey else { return self }
            var copy = self
            copy.headers[name] = retainedKey
            return copy
        }
        guard key != .none, writtenKey == nil else { return self }
        let isStandard = HTTPHeaders.isSame(name, IdempotencyKey.fieldName)
        let text = keyText
        let field = isStandard ? StructuredField.serialize(text) : text
        guard !text.isEmpty, let field, text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
            throw unsent("the idempotency key must be printable ASCII, and not empty")
        }
        guard HTTPToken.isValid(name) else {
            throw unsent("the name of the idempotency key's field, \"\(name)\", is not a token (RFC 9110 §5.1)")
        }
        var copy = self
        copy.headers[name] = field
        return copy
    }

    private func unsent(_ message: String) -> HTTPError {
        HTTPError(.invalidRequest, request: self, message: message, bytesSent: 0)
    }

    /// The key as text.
    private var keyText: String {
        switch idempotencyKey {
        case .none: ""
        case .custom(let own): own
        case .generated:
            OuterRetry.key(for: "\(method) \(url)", body: bodyHash) { UUID().uuidString.lowercased() }
        }
    }

    /// A hash of the body, if it is in memory.
    private var bodyHash: Int {
        guard case .bytes(let bytes) = body.storage else { return 0 }
        // The hash of Data is that of its first bytes.
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    /// The key that was generated for this request and written into its field.
    var generatedKey: OuterRetry.Key? {
        guard idempotencyKey == .generated, let written = writtenKey else { return nil }
        let text = written.hasPrefix("\"") ? String(written.dropFirst().dropLast()) : written
        return OuterRetry.Key(request: "\(method) \(url)", body: bodyHash, value: text)
    }

    /// Whether this is an earlier request once more, as far as their bodies can be compared.
    func repeats(_ earlier: HTTPRequest) -> Bool {
        method == earlier.method && url == earlier.url && bodyHash == earlier.bodyHash
    }

    /// This request with the key that was generated for an earlier one, if it repeats that.
    func keepingGeneratedKey(of earlier: HTTPRequest) -> HTTPRequest {
        guard idempotencyKey == .generated, earlier.generatedKey != nil, repeats(earlier) else { return self }
        var copy = self
        copy.retainKey(of: earlier)
        return copy
    }

    /// The value of the key's field on the attempts before this one.
    ///
    /// It takes precedence over a key that a stage or the caller's code makes for each attempt, with which the server
    /// would execute the request once more.
    var retainedKey: String? {
        get { self[option: RetainedKeyOption.self] }
        set { self[option: RetainedKeyOption.self] = newValue }
    }

    /// Keeps the key of an attempt for those that follow.
    mutating func retainKey(of sent: HTTPRequest) {
        guard retainedKey == nil, let key = sent.writtenKey else { return }
        retainedKey = key
    }
}
