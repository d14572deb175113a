/// The name of an authentication method, which stages of the chain implement.
///
/// ```swift
/// extension AuthenticationMethod { static let reports = AuthenticationMethod("reports") }
/// request.authentication = .reports
/// ```
public struct AuthenticationMethod: Hashable, Sendable, CustomStringConvertible {
    private let name: String

    /// Makes a method for a stage of ``Auth``.
    public init(_ name: String) { self.name = name }

    /// The name.
    public var description: String { name }

    /// The default of the chain.
    public static let automatic = AuthenticationMethod("automatic")
    /// No authentication: for log-in requests and for public resources.
    public static let none = AuthenticationMethod("none")
    /// Authentication by ``BasicAuth``.
    public static let basic = AuthenticationMethod("basic")
    /// Authentication by ``OAuth``.
    public static let oauth = AuthenticationMethod("oauth")
}

private enum AuthenticationOption: HTTPRequestOption {
    static let defaultValue = AuthenticationMethod.automatic
}

extension HTTPRequest {
    /// The authentication method of this request; defaults to ``AuthenticationMethod/automatic``.
    public var authentication: AuthenticationMethod {
        get { self[option: AuthenticationOption.self] }
        set { self[option: AuthenticationOption.self] = newValue }
    }
}
