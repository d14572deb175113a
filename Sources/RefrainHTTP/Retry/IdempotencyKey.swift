#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension HTTPRequest {
    /// Makes a request that is not idempotent safe to repeat: the server recognizes a second copy by its key (rule R5).
    ///
    /// The key travels in `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), as a structured-field string.
    /// It is the same on every attempt of one call.
    ///
    /// ```swift
    /// var order = try HTTPRequest("https://api.example.com/orders", method: .post, body: .text("one tea"))
    /// order.idempotencyKey = .generated
    /// ```
    public enum IdempotencyKey: Hashable, Sendable {
        /// No key, unless the request's own header fields have one.
        case none
        /// A new random key for each call.
        case generated
        /// A key of the caller's: printable ASCII, and not empty.
        case custom(String)

        /// The name of the header field.
        public static let fieldName = "Idempotency-Key"
    }
}

private enum IdempotencyKeyOption: HTTPRequestOption {
    static let defaultValue = HTTPRequest.IdempotencyKey.none
}

extension HTTPRequest {
    /// The idempotency key of this request.
    public var idempotencyKey: IdempotencyKey {
        get { self[option: IdempotencyKeyOption.self] }
        set { self[option: IdempotencyKeyOption.self] = newValue }
    }

    /// Whether the request has a key, as an option or as a field; an empty one does not count.
    public var hasIdempotencyKey: Bool {
        if let written = headers[IdempotencyKey.fieldName] {
            return written.contains { $0 != "\"" && $0 != " " && $0 != "\t" }
        }
        switch idempotencyKey {
        case .none: return false
        case .generated: return true
        case .custom(let key): return !key.isEmpty
        }
    }

    /// This request with its key written into its header fields, once for all attempts.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidRequest`` for a key that cannot be written.
    func withIdempotencyKeyWritten() throws(HTTPError) -> HTTPRequest {
        let key: String
        switch idempotencyKey {
        case .none: return self
        case .generated: key = UUID().uuidString.lowercased()
        case .custom(let own): key = own
        }
        guard !headers.contains(IdempotencyKey.fieldName) else { return self }
        guard !key.isEmpty, let field = StructuredField.serialize(key) else {
            throw HTTPError(
                .invalidRequest,
                request: self,
                message: "the idempotency key must be printable ASCII, and not empty",
                bytesSent: 0
            )
        }
        var copy = self
        copy.headers[IdempotencyKey.fieldName] = field
        return copy
    }
}
