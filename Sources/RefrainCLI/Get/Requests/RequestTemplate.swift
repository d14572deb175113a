// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainTesting

/// The settings that all requests of one command share.
struct RequestTemplate: Sendable {
    private let method: HTTPMethod
    private let headers: HTTPHeaders
    /// Fields that are not sent although the transport would add them: `-H 'NAME:'`, as in curl.
    let omittedFields: [String]
    /// The fields that are not sent to another origin after a redirect.
    private let secretFields: Set<String>
    private let body: BodyText
    private let credentials: Credentials
    /// The identity of the fields and the credentials of the command line.
    private let fieldsDigest: String
    /// Parameters of a query that name no other object, in lower case.
    private let ignoredQuery: Set<String>
    private let attemptTimeout: Duration?
    /// The time of silence that ends an attempt; nil: the default.
    private let idleTimeout: Duration?
    private let connectTimeout: Duration?
    /// The time for each request, all its attempts together; nil: no limit.
    let timeout: Duration?
    private let timeLimits: TimeLimits
    private let retryAfterPolicy: RetryAfterPolicy
    private let key: HTTPRequest.IdempotencyKey
    /// The field of keys; nil: `Idempotency-Key`.
    private let keyField: String?
    /// How long the server remembers a key.
    let keyLifetime: Duration
    /// How long a server remembers a key, where nothing else was said.
    static let defaultKeyLifetime = Duration.seconds(24 * 60 * 60)
    let isReplayUnsafe: Bool
    private let followsRedirects: Bool
    /// Whether the request of a redirect has a `Referer`.
    private let namesReferrers: Bool
    private let acceptsCompressed: Bool
    /// The largest content that is accepted; nil: none was given.
    private let maximumBody: Int?

    /// Whether requests without a key of their own get one.
    var sendsKeys: Bool { key != .none }
    /// The key of the option, which is for one request.
    var givenKey: String? { if case .custom(let text) = key { text } else { nil } }
    /// The identity of the body of the command line.
    var digest: String { body.digest }

    init(_ arguments: Arguments) throws(UsageError) {
        body = try BodyText(arguments)
        let natural = arguments.has(.head) ? "HEAD" : body.isUpload ? "PUT" : body.isGiven ? "POST" : "GET"
        let name = arguments.last(.request) ?? natural
        method = HTTPMethod(rawValue: name)
        guard method.isValid else { throw .badValue(name, of: "--request", "is not a method (RFC 9110 §5.6.2)") }
        guard method != .head || !body.isGiven else {
            throw UsageError("a HEAD request has no body; -G puts the data into the query of the URL")
        }
        (headers, omittedFields) = try Self.headers(arguments, body)
        secretFields = SecretFields.names(in: headers)
        credentials = try Credentials(arguments)
        fieldsDigest = try Self.digest(of: headers, isForm: body.boundary != nil, arguments) + credentials.identity
        ignoredQuery = Set(
            arguments.all(.ignoreQuery).flatMap { $0.lowercased().split(separator: ",").map(String.init) }
        )
        let perAttempt = try arguments.duration(.timeout)
        let maxTime = try arguments.seconds(.maxTime)
        // As in curl, where it is for each transfer: with options that repeat it, for each attempt.
        let isPerAttempt = [.retry, .attempts, .retryFor, .retryMaxTime, .deadline].contains(where: arguments.has)
        attemptTimeout = perAttempt ?? (isPerAttempt ? maxTime : nil)
        idleTimeout = try Self.idleTimeout(arguments, [perAttempt, maxTime])
        connectTimeout = try arguments.seconds(.connectTimeout)
        let wholeTime = try arguments.duration(.deadline)
        timeout = wholeTime ?? (isPerAttempt ? nil : maxTime)
        timeLimits = TimeLimits(arguments, isPerAttempt: isPerAttempt)
        retryAfterPolicy = try PolicyText.retryAfterPolicy(arguments)
        switch arguments.last(.idempotencyKey) {
        case nil: key = .none
        case "": key = .generated
        case .some(let text): key = .custom(text)
        }
        keyField = arguments.last(.idempotencyKeyField)
        if let keyField, !HTTPHeaders.isValidName(keyField) {
            throw .badValue(keyField, of: "--idempotency-key-field", "is not the name of a header field")
        }
        keyLifetime = try arguments.duration(.keyLifetime) ?? Self.defaultKeyLifetime
        isReplayUnsafe = arguments.has(.replayUnsafe)
        let following = arguments.given.last { $0.name == .location || $0.name == .noLocation }
        followsRedirects = following?.name != .noLocation
        namesReferrers = arguments.last(.referer)?.hasSuffix(";auto") ?? false
        acceptsCompressed = arguments.has(.compressed)
        maximumBody = try Self.maximumBody(arguments)
        // Validated once here, so that invalid settings are refused before the first request.
        if let query = body.query {
            do throws(HTTPError) {
                _ = try HTTPRequest("http://localhost/?" + query)
            } catch {
                throw UsageError(
                    "the query that \(body.queryOption) makes contains white space or a control character; "
                        + "--data-urlencode encodes it"
                )
            }
        }
        do throws(HTTPError) {
            _ = try request(for: ListedRequest(url: "http://localhost/", position: .commandLine)).validated()
        } catch {
            throw UsageError("--header: \(error.message ?? error.code.rawValue)")
        }
        if case .custom(let text) = key, !text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            throw .badValue(text, of: "--idempotency-key", "must be printable ASCII")
        }
    }

    /// The fields of all requests: those of the options, and the defaults that they do not name.
    private static func headers(
        _ arguments: Arguments,
        _ body: BodyText
    ) throws(UsageError) -> (HTTPHeaders, omitted: [String]) {
        var headers = HTTPHeaders()
        var omitted: [String] = []
        func add(_ text: String, _ option: String) throws(UsageError) {
            // As in curl: without a value a field is left out, and with a semicolon it is sent without one.
            if text.hasSuffix(";"), HTTPHeaders.isValidName(String(text.dropLast())) {
                return headers.add(String(text.dropLast()), "")
            }
            var field = try HeaderText.parse(text, option: option)
            if let boundary = body.boundary, HTTPHeaders.isSame(field.name, "Content-Type"), !field.value.isEmpty {
                guard !field.value.lowercased().contains("boundary=") else {
                    throw UsageError("\(option): the boundary of a form is the command's to set; leave it out")
                }
                field.value += "; boundary=\(boundary)"
            }
            if field.value.isEmpty { omitted.append(field.name) } else { headers.add(field.name, field.value) }
        }
        for text in arguments.all(.header) {
            guard text.hasPrefix("@") else {
                try add(text, "--header")
                continue
            }
            let path = String(text.dropFirst())
            let lines = String(decoding: try Input.contents(path, "--header"), as: UTF8.self)
                .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            for (index, line) in lines.enumerated() where !line.isEmpty {
                try add(String(line), "--header \(path):\(index + 1)")
            }
        }
        func isNamed(_ name: String) -> Bool {
            headers.contains(name) || omitted.contains { HTTPHeaders.isSame($0, name) }
        }
        func addUnlessNamed(_ name: String, _ value: String?) throws(UsageError) {
            if let value, !isNamed(name) { try add("\(name): \(value)", "--\(name.lowercased())") }
        }
        try addUnlessNamed("User-Agent", arguments.last(.userAgent))
        if let text = arguments.last(.referer) {
            let referrer = text.hasSuffix(";auto") ? String(text.dropLast(";auto".count)) : text
            try addUnlessNamed("Referer", referrer.isEmpty ? nil : referrer)
        }
        let cookies = arguments.all(.cookie).filter { $0.contains("=") }
        if !cookies.isEmpty { try addUnlessNamed("Cookie", cookies.joined(separator: "; ")) }
        for field in try ConditionFields.fields(arguments) { try addUnlessNamed(field.name, field.value) }
        for field in body.headers { try addUnlessNamed(field.name, field.value) }
        return (headers, omitted)
    }

    /// Whether a plain GET of a whole content is sent, so that its URL identifies it.
    var isPlainGet: Bool { method == .get && body.body.isEmpty && range == nil }

    /// Whether a request has a key in a field that was written by hand.
    func namesKey(of listed: ListedRequest) -> Bool {
        let name = keyField ?? "Idempotency-Key"
        if headers[name]?.isEmpty == false { return true }
        return listed.headers.contains { HTTPHeaders.isSame($0.name, name) && !$0.value.isEmpty }
    }

    /// Whether the command line gives a body.
    var hasBody: Bool { !body.body.isEmpty }

    /// The range of the options; nil: the whole body.
    var range: String? { headers["Range"] }

    /// The method of a request.
    func method(of listed: ListedRequest) -> HTTPMethod {
        if let method = listed.method { return HTTPMethod(rawValue: method) }
        return listed.body != nil && method == .get ? .post : method
    }

    /// Whether no option adds anything to URLs.
    var sendsURLsAsGiven: Bool { body.query == nil && body.uploadName == nil }

    /// The URL that a request goes to, with what options add to it.
    func url(of listed: ListedRequest) -> String {
        let plain = URLText.withoutDotSegments(listed.url)
        guard !sendsURLsAsGiven else { return plain }
        let parts = plain.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        var url = String(parts.first ?? "")
        if let name = body.uploadName {
            // The name of the file is appended to a URL whose path ends in a slash or is empty.
            let end = url.firstIndex(of: "?") ?? url.endIndex
            let path = url[..<end]
            let hasPath = path.split(separator: "/", omittingEmptySubsequences: false).count > 3
            if path.hasSuffix("/") || !hasPath { url.insert(contentsOf: hasPath ? name : "/\(name)", at: end) }
        }
        guard let query = body.query else { return url }
        guard url.contains("?") else { return url + "?" + query }
        return url + (url.hasSuffix("?") || url.hasSuffix("&") ? "" : "&") + query
    }

    /// The URL of a request as the name of what it fetches: without a user, a signature and parameters of no meaning.
    func objectURL(of listed: ListedRequest) -> String {
        SignedURL.withoutSignature(SanitizedURL.text(url(of: listed)), ignoring: ignoredQuery)
    }

    /// What tells a request from others to the same URL: fields and credentials of the command line, and its user.
    func senderDigest(of listed: ListedRequest) -> String {
        var text = fieldsDigest
        if let user = SanitizedURL.user(of: listed.url) ?? credentials.login(for: listed.url) {
            text += "\nuser \(user)"
        }
        return text
    }

    /// The identity of fields: of those that may change what is sent back.
    ///
    /// A condition, or a range, asks for the same content, and the boundary of a form is random.
    private static func digest(
        of headers: HTTPHeaders,
        isForm: Bool,
        _ arguments: Arguments
    ) throws(UsageError) -> String {
        var text = ""
        for field in headers {
            let name = field.name.lowercased()
            guard name != "range", !name.hasPrefix("if-"), name != "idempotency-key",
                !(isForm && name == "content-type")
            else { continue }
            let value = name == "authorization" ? Credentials.identity(ofAuthorization: field.value) : field.value
            text += "\n\(name): \(value)"
        }
        // A jar that is written at the end changes with each run.
        for file in arguments.all(.cookie) where !file.contains("=") && file != arguments.last(.cookieJar) {
            guard Directory.kind(of: file) == .file else { continue }
            text += "\ncookies \(ContentDigest.sha256(of: try Input.contents(file, "--cookie")))"
        }
        return text
    }

    /// The fields that are sent with a request, with the media type that comes with its body.
    func fields(of request: HTTPRequest) -> HTTPHeaders {
        var headers = request.headers
        if let type = request.body.contentType, !headers.contains("Content-Type"),
            !omittedFields.contains(where: { HTTPHeaders.isSame($0, "Content-Type") })
        {
            headers["Content-Type"] = type
        }
        return headers
    }

    /// The request of a line of a list or a URL of the command line.
    ///
    /// - Parameter storedKey: the idempotency key that an earlier run may have sent.
    func request(for listed: ListedRequest, storedKey: String? = nil) throws(HTTPError) -> HTTPRequest {
        var request = try HTTPRequest(
            url(of: listed),
            method: method(of: listed),
            headers: headers,
            body: listed.body ?? body.body
        )
        for field in listed.headers { request.headers[field.name] = field.value }
        let secrets = listed.headers.isEmpty ? secretFields : SecretFields.names(in: request.headers)
        if !secrets.isEmpty { request.secretHeaders = secrets }
        if !omittedFields.contains(where: { HTTPHeaders.isSame($0, "Authorization") }) {
            credentials.apply(to: &request)
        }
        // Defaults are not set, because each option costs time for each request.
        if let attemptTimeout { request.attemptTimeout = attemptTimeout }
        if let idleTimeout { request.timeouts.idle = idleTimeout }
        if let connectTimeout { request.timeouts.connect = connectTimeout }
        if let timeout { request.timeout = timeout }
        if timeLimits != TimeLimits() { request.timeLimits = timeLimits }
        if retryAfterPolicy != .honoured { request.retryAfterPolicy = retryAfterPolicy }
        let key = (storedKey ?? listed.key).map(HTTPRequest.IdempotencyKey.custom) ?? key
        if key != .none { request.idempotencyKey = key }
        if let keyField { request.idempotencyKeyField = keyField }
        if isReplayUnsafe { request.replay = .allowed }
        if !ignoredQuery.isEmpty { request.ignoredQueryParameters = ignoredQuery }
        if !followsRedirects { request.followsRedirects = false }
        if namesReferrers {
            request.redirectModifier = { _, next, response in
                var next = next
                next.headers["Referer"] = SanitizedURL.withoutFragment(ResponseHead(response).url)
                return next
            }
        }
        if acceptsCompressed { request.acceptsCompressedDownload = true }
        // The head is that of the content of a GET.
        if request.method == .head, !acceptsCompressed, !request.headers.contains("Accept-Encoding") {
            request.headers["Accept-Encoding"] = "identity"
        }
        if let maximumBody { request.maximumBodySize = maximumBody }
        return request
    }

    /// How long a request may take in all, which holds for the files that it is made from as well; nil: no limit.
    static func timeOfCall(_ arguments: Arguments) throws(UsageError) -> Duration? {
        let times = [try arguments.duration(.deadline), try arguments.seconds(.maxTime)]
        return times.compactMap(\.self).min()
    }

    /// The time of silence, if options allow a longer one than the default: the longest that they name, and the pauses
    /// that a limited rate makes.
    private static func idleTimeout(_ arguments: Arguments, _ times: [Duration?]) throws(UsageError) -> Duration? {
        guard let usual = Timeout.Limits.standard.idle else { return nil }
        let minimumSpeed = try TransportSettings.minimumSpeed(arguments)
        let named = times.compactMap(\.self) + (minimumSpeed.map { [.seconds($0.seconds)] } ?? [])
        let longest = max(usual, named.max() ?? usual) + (try TransportSettings.longestPause(arguments) ?? .zero)
        return longest > usual ? longest : nil
    }

    private static func maximumBody(_ arguments: Arguments) throws(UsageError) -> Int? {
        if let text = arguments.last(.maxBody) { return try SizeText.parse(text, option: "--max-body") }
        return try arguments.last(.maxFilesize).map { text throws(UsageError) in
            try SpeedText.bytes(text, option: "--max-filesize")
        }
    }
}
