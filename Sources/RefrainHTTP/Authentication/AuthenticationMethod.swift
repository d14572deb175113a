extension Auth {
    /// The name of an authentication method, which stages of the chain implement.
    ///
    /// ```swift
    /// extension Auth.Method { static let reports = Auth.Method("reports") }
    /// request.authentication = .reports
    /// ```
    public struct Method: Hashable, Sendable, CustomStringConvertible {
        private let name: String

        /// Makes a method for a stage of ``Auth``.
        public init(_ name: String) { self.name = name }

        /// The name.
        public var description: String { name }

        /// The default of the chain.
        public static let automatic = Method("automatic")
        /// No authentication: for log-in requests and for public resources.
        public static let none = Method("none")
        /// Authentication by ``BasicAuth``.
        public static let basic = Method("basic")
        /// Authentication by ``OAuth``.
        public static let oauth = Method("oauth")
    }
}

private enum AuthenticationOption: HTTPRequestOption {
    static let defaultValue = Auth.Method.automatic
}

extension HTTPRequest {
    /// The authentication method of this request; defaults to ``Auth/Method/automatic``.
    public var authentication: Auth.Method {
        get { self[option: AuthenticationOption.self] }
        set { self[option: AuthenticationOption.self] = newValue }
    }
}
