/// How a request is to be authenticated: a name that stages of the chain answer to.
///
/// ```swift
/// extension AuthenticationMethod { static let reports = AuthenticationMethod("reports") }
/// request.authentication = .reports
/// ```
public struct AuthenticationMethod: Hashable, Sendable, CustomStringConvertible {
    private let name: String

    /// Names a method, for services besides those named here; ``Auth`` finds the stage.
    public init(_ name: String) { self.name = name }

    /// The name.
    public var description: String { name }

    /// As the chain does it by default.
    public static let automatic = AuthenticationMethod("automatic")
    /// Not at all: for requests that log in, or that fetch what anybody may see.
    public static let none = AuthenticationMethod("none")
    /// By ``BasicAuth``.
    public static let basic = AuthenticationMethod("basic")
    /// By ``OAuth``.
    public static let oauth = AuthenticationMethod("oauth")
}

private enum AuthenticationOption: HTTPRequestOption {
    static let defaultValue = AuthenticationMethod.automatic
}

extension HTTPRequest {
    /// How this request is to be authenticated; ``AuthenticationMethod/automatic`` by default.
    public var authentication: AuthenticationMethod {
        get { self[option: AuthenticationOption.self] }
        set { self[option: AuthenticationOption.self] = newValue }
    }
}
