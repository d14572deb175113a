internal import Refrain

/// Header fields whose values are not shown or stored, because they are credentials.
enum SecretFields {
    private static let names = [
        "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "Authentication-Info",
        "Proxy-Authentication-Info", "X-Api-Key", "Api-Key", "X-Auth-Token", "X-Csrf-Token", "X-Amz-Security-Token",
    ]

    /// Those of a request that stay with the origin which they are for.
    static func names(in headers: HTTPHeaders) -> Set<String> {
        var found: Set<String> = []
        for field in headers where contains(field.name) { found.insert(field.name) }
        return found
    }

    /// Whether the value of a field is a secret.
    static func contains(_ name: String) -> Bool { names.contains { HTTPHeaders.isSame($0, name) } }

    /// The value of a field as a report has it.
    static func shown(_ field: HTTPHeaders.Field) -> String {
        if HTTPHeaders.isSame(field.name, "Set-Cookie") {
            // Which cookie was set is no secret.
            return field.value.contains("=") ? field.value.prefix { $0 != "=" } + "=…" : "…"
        }
        if contains(field.name) { return "…" }
        return HTTPHeaders.isSame(field.name, "Location") ? SanitizedURL.text(field.value) : field.value
    }
}
