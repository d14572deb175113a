/// What libcurl says of a failure.
public struct CurlFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of the error, a `CURLcode`.
    public let code: Int32
    /// What happened, in libcurl's words.
    public let message: String

    /// Describes a failure.
    public init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    /// The words and the number.
    public var description: String { "\(message) (libcurl \(code))" }
}
