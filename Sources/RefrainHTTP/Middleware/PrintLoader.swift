/// Prints each request and what became of it, without its secrets.
///
/// ```swift
/// let loader = Retry(RetryPolicy.recommended) --> PrintLoader() --> CurlLoader()
/// ```
///
/// Values of fields that carry credentials, such as `Authorization` and `Cookie`, are left out, as are those of
/// ``HTTPRequest/secretHeaders``, and user and password of a URL. Of bodies only the length is told. After ``Retry``
/// every try is printed, before it every call. The idea is from "HTTP in Swift".
public struct PrintLoader: HTTPMiddleware {
    /// The fields whose values are never printed.
    public static let secretFields: Set<String> = [
        "Authorization", "Cookie", "Idempotency-Key", "Proxy-Authorization", "Set-Cookie", "X-API-Key",
        "X-Auth-Token", "X-CSRF-Token", "API-Key", "Authentication-Info", "Proxy-Authentication-Info",
    ]

    private let secrets: [String]
    private let clocks: ClockPair
    private let sink: @Sendable (String) -> Void
    private let numbers = Locked<UInt64>(0)

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - secretFields: further fields whose values are left out.
    ///   - clocks: the clocks that the time of an exchange is measured on.
    ///   - sink: takes each text; standard output unless told otherwise.
    public init(
        secretFields: Set<String> = [],
        clocks: ClockPair = .system,
        to sink: @escaping @Sendable (String) -> Void = { print($0) }
    ) {
        secrets = Array(Self.secretFields.union(secretFields))
        self.clocks = clocks
        self.sink = sink
    }

    /// Prints a request, hands it on, and prints its result.
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
            let isSecret = secrets.contains { HTTPHeaders.isSame($0, field.name) }
            text += "\n    \(plain(field.name)): \(isSecret ? "(left out)" : plain(field.value))"
        }
        if !body.isEmpty {
            text += "\n    (\(body.length.map { "\($0) bytes" } ?? "a body of unknown length"))"
        }
        return text
    }

    /// Text without control characters, so that no value can forge a line or steer a terminal, and without users and
    /// passwords of URLs.
    private static func plain(_ text: String) -> String {
        let text = URLText.withoutUserinfo(in: text)
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return text.unicodeScalars.reduce(into: "") { plain, scalar in
            plain += isControl(scalar) ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }
}
