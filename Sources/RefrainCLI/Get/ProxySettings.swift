internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The proxy that connections go by, as the options name it.
enum ProxySettings {
    /// The options that name one, with the scheme that they stand for.
    private static let schemes: [OptionName: String] = [
        .proxy: "", .socks4: "socks4", .socks4a: "socks4a", .socks5: "socks5", .socks5Hostname: "socks5h",
    ]

    /// Sets the proxy, who asks it, and the hosts that it is not used for.
    static func apply(
        _ arguments: Arguments,
        to configuration: inout CurlLoader.Configuration
    ) throws(UsageError) {
        if let (name, value) = arguments.given.last(where: { schemes[$0.name] != nil }), let scheme = schemes[name] {
            guard scheme.isEmpty || !value.contains("://") else {
                throw .badValue(SanitizedURL.refused(value), of: "--\(name.rawValue)", "is not HOST:PORT")
            }
            configuration.proxy = scheme.isEmpty ? value : "\(scheme)://\(value)"
        }
        if let user = arguments.last(.proxyUser) {
            let password = try user.contains(":") ? "" : ":" + Credentials.password(of: user, option: "--proxy-user")
            configuration.overrides.texts[.proxyUser] = user + password
        }
        // As in curl, the environment takes hosts away from a proxy of the command line, too.
        if let hosts = arguments.last(.noproxy) ?? (configuration.proxy == nil ? nil : hostsOfEnvironment()) {
            configuration.overrides.texts[.noproxy] = hosts
        }
    }

    /// The hosts that the environment wants no proxy for.
    private static func hostsOfEnvironment() -> String? {
        (getenv("no_proxy") ?? getenv("NO_PROXY")).map { String(cString: $0) }
    }
}
