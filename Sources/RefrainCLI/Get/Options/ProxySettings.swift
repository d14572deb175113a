// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The proxy of the connections, from the options.
enum ProxySettings {
    /// The options that name a proxy, with their schemes.
    private static let schemes: [OptionName: String] = [
        .proxy: "", .socks4: "socks4", .socks4a: "socks4a", .socks5: "socks5", .socks5Hostname: "socks5h",
    ]

    /// Sets the proxy, its credentials, and the hosts that it is not used for.
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
        // As in curl, the exceptions of the environment also apply to a proxy of the command line.
        if let hosts = arguments.last(.noproxy) ?? (configuration.proxy == nil ? nil : hostsOfEnvironment()) {
            configuration.overrides.texts[.noproxy] = hosts
        }
    }

    /// The hosts without a proxy, from the environment.
    private static func hostsOfEnvironment() -> String? {
        // To libcurl an empty variable is not set.
        [getenv("no_proxy"), getenv("NO_PROXY")].compactMap { $0.map { String(cString: $0) } }.first { !$0.isEmpty }
    }
}
