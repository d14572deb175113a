// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// Refuses requests whose scheme `--proto` or `--proto-redir` excludes; a stage after `Redirect`.
struct AllowedSchemes: HTTPMiddleware {
    /// The schemes of URLs.
    private let first: Set<String>
    /// The schemes of redirect targets.
    private let redirected: Set<String>

    /// The supported schemes.
    private static let known: Set<String> = ["http", "https"]

    /// Reads the options; nil where neither was given.
    init?(_ arguments: Arguments) throws(UsageError) {
        guard arguments.has(.proto) || arguments.has(.protoRedir) else { return nil }
        first = try Self.schemes(arguments.last(.proto), "--proto")
        redirected = first.intersection(try Self.schemes(arguments.last(.protoRedir), "--proto-redir"))
    }

    /// Reads a list as curl does: `=` allows nothing else, `-` removes, `+` or nothing adds.
    private static func schemes(_ list: String?, _ option: String) throws(UsageError) -> Set<String> {
        var allowed = known
        guard let list else { return allowed }
        for item in list.split(separator: ",") {
            let modifiers = item.prefix { "=-+".contains($0) }
            let name = item.dropFirst(modifiers.count).lowercased()
            guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
                throw .badValue(list, of: option, "is not a list of protocols; write =https, or -http")
            }
            // Unsupported ones are not fetched in any case.
            let named = name == "all" ? known : known.intersection([name])
            if modifiers.contains("=") { allowed = [] }
            if modifiers.last == "-" { allowed.subtract(named) } else { allowed.formUnion(named) }
        }
        return allowed
    }

    /// A request whose redirects are marked as such.
    static func marked(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.redirectModifier = { _, next, _ in
            var next = next
            next[option: IsRedirected.self] = true
            return next
        }
        return request
    }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let isRedirected = request[option: IsRedirected.self]
        let scheme = request.origin?.scheme ?? ""
        guard !(isRedirected ? redirected : first).contains(scheme) else { return await next.load(request) }
        let option = isRedirected && first.contains(scheme) ? "--proto-redir" : "--proto"
        let message = "\(option) rules out \(scheme)\(isRedirected ? ", which a redirect leads to" : "")"
        return .failure(HTTPError(.unsupportedURL, request: request, message: message, bytesSent: 0))
    }
}

private enum IsRedirected: HTTPRequestOption {
    static let defaultValue = false
}
