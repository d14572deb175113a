/// Converts a valid response into a value.
///
/// An error other than ``RefrainError`` becomes ``RefrainError/ResponseSerializationFailureReason``'s
/// `customSerializationFailed`, with the body.
public protocol ResponseSerializer<Value>: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable

    /// Returns the value of a response.
    func serialize(_ response: HTTPResponse) throws -> Value
}

extension Empty {
    /// A type with a value for responses without content.
    public protocol Response: Sendable {
        /// The value for an empty response.
        static func emptyValue() -> Self
    }
}

/// The value of a response without content.
public struct Empty: Empty.Response, Codable, Hashable {
    /// The value for an empty response.
    public static let value = Empty()
    /// The value for an empty response.
    public static func emptyValue() -> Empty { value }
    /// Makes the value.
    public init() {}
}

extension Empty {
    /// The responses that may be empty.
    public struct Rules: Hashable, Sendable {
        /// The methods whose responses have no content.
        public var methods: Set<HTTPMethod>
        /// The statuses of responses without content.
        public var statuses: Set<HTTPStatus>

        /// HEAD, 204 and 205 (RFC 9110 §9.3.2, §15.3.5, §15.3.6).
        public static let standard = Rules(methods: [.head], statuses: [204, 205])

        /// Makes rules.
        public init(methods: Set<HTTPMethod>, statuses: Set<HTTPStatus>) {
            self.methods = methods
            self.statuses = statuses
        }

        /// Whether a response may be empty.
        public func allow(_ response: HTTPResponse) -> Bool {
            methods.contains(response.request.method) || statuses.contains(response.status)
        }
    }
}
