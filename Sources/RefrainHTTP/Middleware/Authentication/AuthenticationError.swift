/// Why a request could not be signed.
public enum AuthenticationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no credential; set the interceptor's `credential` once the user has logged in.
    case missingCredential
    /// The credential was refreshed too often in too short a time; something refuses new ones, too.
    case excessiveRefresh

    /// What happened.
    public var description: String {
        switch self {
        case .missingCredential: "there is no credential to sign the request with"
        case .excessiveRefresh: "the credential was refreshed too often in a short time"
        }
    }
}
