internal import Refrain

/// What all requests of one command have in common.
struct RequestTemplate: Sendable {
    private let method: HTTPMethod
    private let headers: HTTPHeaders
    private let body: HTTPBody
    private let timeout: Duration?
    private let deadline: Duration?
    private let serverDelays: ServerDelays
    private let key: IdempotencyKey
    private let isReplayUnsafe: Bool
    private let followsRedirects: Bool
    /// The largest content that is accepted; nil: none was given.
    let maximumBody: Int?

    init(_ arguments: Arguments) throws(UsageError) {
        body = try BodyText.body(arguments.all(.data))
        let name = arguments.last(.request) ?? (arguments.has(.data) ? "POST" : "GET")
        method = HTTPMethod(rawValue: name)
        guard method.isValid else { throw .badValue(name, of: "--request", "is no method (RFC 9110 §5.6.2)") }
        var headers = HTTPHeaders()
        for text in arguments.all(.header) {
            let field = try HeaderText.parse(text, option: "--header")
            headers.add(field.name, field.value)
        }
        self.headers = headers
        timeout = try Self.duration(.timeout, arguments)
        deadline = try Self.duration(.deadline, arguments)
        serverDelays = try PolicyText.serverDelays(arguments)
        switch arguments.last(.idempotencyKey) {
        case nil: key = .none
        case "": key = .generated
        case .some(let text): key = .custom(text)
        }
        isReplayUnsafe = arguments.has(.replayUnsafe)
        followsRedirects = !arguments.has(.noLocation)
        maximumBody = try arguments.last(.maxBody).map { text throws(UsageError) in
            try SizeText.parse(text, option: "--max-body")
        }
        // Tried out once here, so that what no request can have is refused before the first one is made.
        do throws(HTTPError) {
            _ = try request(for: "http://localhost/").validated()
        } catch {
            throw UsageError("--header: \(error.message ?? error.code.rawValue)")
        }
        if case .custom(let text) = key, !text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            throw .badValue(text, of: "--idempotency-key", "must be printable ASCII")
        }
    }

    /// The request for a URL.
    func request(for url: String) throws(HTTPError) -> HTTPRequest {
        var request = try HTTPRequest(url, method: method, headers: headers, body: body)
        request.timeout = timeout
        request.deadline = deadline
        request.serverDelays = serverDelays
        request.idempotencyKey = key
        if isReplayUnsafe { request.replay = .allowed }
        request.followsRedirects = followsRedirects
        request.maximumBodySize = maximumBody
        return request
    }

    private static func duration(_ name: OptionName, _ arguments: Arguments) throws(UsageError) -> Duration? {
        guard let text = arguments.last(name) else { return nil }
        return try DurationText.parse(text, option: "--\(name.rawValue)")
    }
}

/// Bodies as they are written on the command line: text, or `@FILE`.
enum BodyText {
    /// The media type of a body that is given as text, unless a header field says otherwise: what curl sends.
    static let contentType = "application/x-www-form-urlencoded"

    /// Up to this size a file is read when the command begins: a small one may hold more or less than its size says.
    static let readAtOnce = 65_536

    /// The body of all parts, joined by `&`.
    static func body(_ parts: [String]) throws(UsageError) -> HTTPBody {
        guard !parts.isEmpty else { return .empty }
        if parts.count == 1, parts[0].hasPrefix("@"), parts[0] != "@-" {
            let path = String(parts[0].dropFirst())
            let input = try open(path)
            if let size = input.fileSize, size > readAtOnce { return .file(path, contentType: contentType) }
            return .bytes(try rest(of: input), contentType: contentType)
        }
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            bytes += part.hasPrefix("@") ? try rest(of: open(String(part.dropFirst()))) : Array(part.utf8)
        }
        return .bytes(bytes, contentType: contentType)
    }

    private static func open(_ path: String) throws(UsageError) -> Input {
        do {
            return try Input(path: path)
        } catch {
            throw UsageError("--data: \(error)")
        }
    }

    private static func rest(of input: Input) throws(UsageError) -> [UInt8] {
        do {
            return try input.rest()
        } catch {
            throw UsageError("--data: \(error)")
        }
    }
}
