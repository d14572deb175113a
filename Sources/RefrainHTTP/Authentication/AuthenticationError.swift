extension Auth {
    /// Why a request could not be authenticated.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// There is no credential; set the interceptor's `credential` after the user has logged in.
        case missingCredential
        /// The credential was refreshed too often; new credentials are refused as well.
        case excessiveRefresh

        /// A sentence that describes the error.
        public var description: String {
            switch self {
            case .missingCredential: "there is no credential to sign the request with"
            case .excessiveRefresh: "the credential was refreshed too often in a short time"
            }
        }
    }
}
