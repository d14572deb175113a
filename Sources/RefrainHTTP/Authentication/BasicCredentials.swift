#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension BasicAuth {
    /// A user name and password (RFC 7617).
    public struct Credentials: Hashable, Sendable {
        /// The user name.
        public let user: String
        /// The password.
        public let password: String

        /// Makes credentials.
        ///
        /// - Throws: ``/RefrainCore/InvalidArgument`` for a user name with a colon, which the scheme does not allow
        ///   (RFC 7617 §2).
        public init(user: String, password: String) throws(InvalidArgument) {
            guard !user.utf8.contains(UInt8(ascii: ":")) else {
                throw InvalidArgument("user", is: "a name with a colon", expected: "a name without a colon")
            }
            self.user = user
            self.password = password
        }

        /// The value of `Authorization`, with the text encoded as UTF-8.
        public var fieldValue: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
    }
}

extension BasicAuth.Credentials: CustomStringConvertible, CustomDebugStringConvertible {
    /// The user name, without the password.
    public var description: String { "credentials of \(user)" }

    /// The user name, without the password.
    public var debugDescription: String { description }
}

extension BasicAuth {
    /// The purpose of credentials that ``BasicAuth`` requests.
    public struct CredentialsRequest: Hashable, Sendable {
        /// The only origin that the credentials are sent to.
        public let origin: Origin
        /// The credentials that the server refused; nil if none were sent.
        public let refused: Credentials?
    }
}
