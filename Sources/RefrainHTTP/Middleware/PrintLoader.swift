// SPDX-License-Identifier: Apache-2.0
/// Prints each request and its result, without secrets.
///
/// ```swift
/// let loader = Retry(RetryPolicy.recommended)
///     --> PrintLoader()
///     --> PlatformLoader()
/// ```
///
/// The values of header fields and query parameters whose names tell that they are secrets, such as `Authorization`,
/// `X-Api-Key` and `access_token`, of the fields in ``HTTPRequest/secretHeaders``, and the user information of URLs are
/// omitted. So are control characters, which could move the cursor of a terminal. Bodies are printed as their length.
/// After ``Retry`` each attempt is printed, before it each call.
public struct PrintLoader: HTTPMiddleware {
    /// The best known fields whose values are never printed; the others are told by the words in their names.
    public static let secretFields: Set<String> = [
        "Authorization", "Cookie", "Idempotency-Key", "Proxy-Authorization", "Set-Cookie", "X-API-Key",
        "X-Auth-Token", "X-CSRF-Token", "API-Key", "Authentication-Info", "Proxy-Authentication-Info",
    ]

    private let secrets: [String]
    private let clocks: RetryClocks
    private let sink: @Sendable (String) -> Void
    private let numbers = Locked<UInt64>(0)

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - secretFields: additional fields whose values are omitted.
    ///   - clocks: the clocks that measure the time of an exchange.
    ///   - sink: receives each text. Defaults to standard output.
    public init(
        secretFields: Set<String> = [],
        clocks: RetryClocks = .system,
        to sink: @escaping @Sendable (String) -> Void = { print($0) }
    ) {
        secrets = Array(Self.secretFields.union(secretFields))
        self.clocks = clocks
        self.sink = sink
    }

    /// Prints a request, forwards it, and prints its result.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let number = numbers.withLock { number in
            number &+= 1
            return number
        }
        let secrets = secrets + request.secretHeaders
        sink("→ \(number) \(Self.plain("\(request)"))" + Self.lines(request.headers, request.body, hiding: secrets))
        let start = clocks.now
        let result = await next.load(request)
        let time = "\((clocks.now - start).inMilliseconds) ms"
        switch result {
        case .success(let response):
            let lines = Self.lines(response.headers, response.body, hiding: secrets)
            sink("← \(number) \(response.status) in \(time)" + lines)
        case .failure(let error):
            let message = error.message.map { " (\(Self.plain($0)))" } ?? ""
            sink("✗ \(number) \(error.code.rawValue)\(message) in \(time)")
        }
        return result
    }

    private static func lines(_ headers: HTTPHeaders, _ body: HTTPBody, hiding secrets: [String]) -> String {
        var text = ""
        for field in headers {
            let isSecret =
                SecretNames.contains(field: field.name) || secrets.contains { HTTPHeaders.isSame($0, field.name) }
            text += "\n    \(plain(field.name)): \(isSecret ? "(left out)" : plain(field.value))"
        }
        if !body.isEmpty {
            text += "\n    (\(body.length.map { "\($0) bytes" } ?? "a body of unknown length"))"
        }
        return text
    }

    /// A text on one line, without control characters and the user information of URLs.
    private static func plain(_ text: String) -> String { PrintableText.line(URLText.withoutUserinfo(in: text)) }
}
