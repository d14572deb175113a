#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A user and a password (RFC 7617).
public struct BasicCredentials: Hashable, Sendable {
    /// The user's name.
    public let user: String
    /// The password.
    public let password: String

    /// Makes credentials.
    ///
    /// - Throws: ``/RefrainCore/InvalidArgument`` for a user with a colon, which the scheme cannot carry (RFC 7617 §2).
    public init(user: String, password: String) throws(InvalidArgument) {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw InvalidArgument("user", is: "a name with a colon", expected: "a name without a colon")
        }
        self.user = user
        self.password = password
    }

    /// The value of `Authorization`; the text is sent as UTF-8.
    public var fieldValue: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
}

extension BasicCredentials: CustomStringConvertible, CustomDebugStringConvertible {
    /// The user; never the password.
    public var description: String { "credentials of \(user)" }

    /// The user; never the password.
    public var debugDescription: String { description }
}

/// What ``BasicAuth`` needs credentials for.
public struct BasicCredentialsRequest: Hashable, Sendable {
    /// Where they will be sent, and nowhere else.
    public let origin: Origin
    /// Those that the server has refused; nil where none were sent.
    public let refused: BasicCredentials?
}
