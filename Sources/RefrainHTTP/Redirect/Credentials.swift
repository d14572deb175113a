// SPDX-License-Identifier: Apache-2.0
private enum SecretHeadersOption: HTTPRequestOption {
    static var defaultValue: Set<String> { [] }
}

private enum DroppedHeadersOption: HTTPRequestOption {
    static var defaultValue: Set<String> { [] }
}

private enum FollowsRedirectsOption: HTTPRequestOption {
    static let defaultValue = true
}

extension HTTPRequest {
    /// The names of further header fields that must not reach another origin, and are not logged.
    ///
    /// Fields whose names tell that they are secrets need not be named: those with a word such as token, key, secret,
    /// auth, session, password or signature in them, and those of common gateways.
    public var secretHeaders: Set<String> {
        get { self[option: SecretHeadersOption.self] }
        set { self[option: SecretHeadersOption.self] = newValue }
    }

    /// Whether redirects are followed; defaults to true.
    public var followsRedirects: Bool {
        get { self[option: FollowsRedirectsOption.self] }
        set { self[option: FollowsRedirectsOption.self] = newValue }
    }

    /// The header fields that a redirect to another origin has taken from this request, in lower case.
    ///
    /// What a redirect has dropped stays dropped: stages that add fields must leave these out (rules R6, R26).
    /// ``withoutDroppedHeaders()`` does it.
    public internal(set) var headersDroppedByRedirect: Set<String> {
        get { self[option: DroppedHeadersOption.self] }
        set { self[option: DroppedHeadersOption.self] = newValue }
    }

    /// This request without the fields that a redirect has taken from it, for stages that have added some since.
    public func withoutDroppedHeaders() -> HTTPRequest {
        withoutHeaders(droppedFrom: self)
    }

    /// This request without what a redirect has taken from an earlier form of it.
    ///
    /// That is the fields that it names, and what a stage may have added since: fields that are secrets by their names,
    /// and an idempotency key.
    package func withoutHeaders(droppedFrom earlier: HTTPRequest) -> HTTPRequest {
        let dropped = earlier.headersDroppedByRedirect
        guard !dropped.isEmpty else { return self }
        var copy = self
        copy.removeHeaders { dropped.contains($0.lowercased()) || SecretNames.contains(field: $0) }
        if copy.idempotencyKey != .none { copy.idempotencyKey = .none }
        return copy
    }

    private mutating func removeHeaders(where isRemoved: (String) -> Bool) {
        for name in Set(headers.map(\.name)) where isRemoved(name) { headers.remove(name) }
    }

    /// Takes out what belongs to the origin that the request leaves.
    package mutating func dropCredentials() {
        var names = Self.credentialFields.union(secretHeaders.map { $0.lowercased() })
        names.insert(idempotencyKeyField.lowercased())
        names.formUnion(headers.map(\.name).filter(SecretNames.contains(field:)).map { $0.lowercased() })
        headersDroppedByRedirect = headersDroppedByRedirect.union(names)
        removeHeaders { names.contains($0.lowercased()) }
        idempotencyKey = .none
        retainedKey = nil
    }

    /// Takes out what describes a body that the request no longer has (RFC 9110 §15.4).
    mutating func removeFieldsOfTheBody() {
        for name in Self.fieldsOfTheBody { headers.remove(name) }
    }

    /// Fields that describe a body; `Expect` announces one.
    private static let fieldsOfTheBody = [
        "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Range",
        "Content-Disposition", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest", "Last-Modified", "Expect",
    ]

    /// Fields that identify the caller to one origin only; `Host` names that origin.
    private static let credentialFields: Set<String> = [
        "authorization", "cookie", "proxy-authorization", "idempotency-key", "host",
    ]
}
