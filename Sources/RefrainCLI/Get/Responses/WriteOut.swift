// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// A text that is written after each request, with variables in it: curl's `--write-out`.
struct WriteOut: Sendable {
    private enum Part: Sendable {
        case text(String)
        case variable(Variable)
        case header(String)
    }

    private enum Variable: String, CaseIterable {
        case contentType = "content_type"
        case errorMessage = "errormsg"
        case exitCode = "exitcode"
        case filename = "filename_effective"
        case headerJSON = "header_json"
        case httpCode = "http_code"
        case httpConnect = "http_connect"
        case httpVersion = "http_version"
        case json
        case localIP = "local_ip"
        case localPort = "local_port"
        case method
        case numConnects = "num_connects"
        case numHeaders = "num_headers"
        case numRedirects = "num_redirects"
        case numRetries = "num_retries"
        case onError = "onerror"
        case redirectURL = "redirect_url"
        case referer
        case remoteIP = "remote_ip"
        case remotePort = "remote_port"
        case responseCode = "response_code"
        case scheme
        case sizeDownload = "size_download"
        case sizeHeader = "size_header"
        case sizeRequest = "size_request"
        case sizeUpload = "size_upload"
        case speedDownload = "speed_download"
        case speedUpload = "speed_upload"
        case standardError = "stderr"
        case standardOutput = "stdout"
        case timeAppConnect = "time_appconnect"
        case timeConnect = "time_connect"
        case timeNameLookup = "time_namelookup"
        case timePreTransfer = "time_pretransfer"
        case timeRedirect = "time_redirect"
        case timeStartTransfer = "time_starttransfer"
        case timeTotal = "time_total"
        case url
        case urlEffective = "url_effective"
        case urlNumber = "urlnum"
    }

    /// The variables, for the help.
    static var names: [String] { Variable.allCases.map(\.rawValue) }

    /// Curl's variables that are not taken, with what to use instead.
    private static let refused: [String: String] = [
        "certs": "the certificates are not kept; openssl s_client -connect HOST:443 -showcerts shows them",
        "num_certs": "the certificates are not kept; openssl s_client -connect HOST:443 -showcerts shows them",
        "ssl_verify_result": "a certificate that is not accepted fails the request; %{errormsg} says why",
        "proxy_ssl_verify_result": "a certificate that is not accepted fails the request; %{errormsg} says why",
        "ftp_entry_path": "refrain does not support FTP",
    ]

    private let parts: [Part]

    /// Reads a format; `@FILE` is read from a file, `@-` from standard input.
    init(_ text: String) throws(UsageError) {
        let option = "--write-out"
        var format = text
        if text.hasPrefix("@") {
            do throws(SystemError) {
                // Line ends of the file are ignored; \n in the format is one.
                let bytes = try Input(path: String(text.dropFirst())).rest().filter { $0 != 0x0A && $0 != 0x0D }
                format = String(decoding: bytes, as: UTF8.self)
            } catch {
                throw UsageError("\(option): \(error)")
            }
        }
        var parts: [Part] = []
        var literal = ""
        var rest = format[...]
        func flush() {
            if !literal.isEmpty { parts.append(.text(literal)) }
            literal = ""
        }
        while let character = rest.popFirst() {
            if character == "\\", let next = rest.first, let escaped = ["n": "\n", "r": "\r", "t": "\t"][next] {
                rest.removeFirst()
                literal += escaped
            } else if character == "%", rest.first == "%" {
                rest.removeFirst()
                literal += "%"
            } else if character == "%", let part = try Self.variable(&rest, option) {
                flush()
                parts.append(part)
            } else {
                literal.append(character)
            }
        }
        flush()
        self.parts = parts
    }

    /// The variable at the beginning of a text, behind its percent sign; nil where there is none.
    private static func variable(_ rest: inout Substring, _ option: String) throws(UsageError) -> Part? {
        let isHeader = rest.hasPrefix("header{")
        guard rest.hasPrefix("{") || isHeader, let end = rest.firstIndex(of: "}"),
            let start = rest.firstIndex(of: "{")
        else { return nil }
        let name = String(rest[rest.index(after: start)..<end])
        rest = rest[rest.index(after: end)...]
        if isHeader { return .header(name) }
        guard let variable = Variable(rawValue: name) else {
            if let reason = refused[name] { throw .badValue("%{\(name)}", of: option, "is not supported: \(reason)") }
            let meant = SuggestionFinder.nearest(to: name, among: names).map { "did you mean %{\($0)}?" }
            let advice = meant ?? "refrain help get all lists the variables"
            throw .badValue("%{\(name)}", of: option, "is not known; \(advice)")
        }
        return .variable(variable)
    }

    /// The output for a request, and whether it goes to standard error.
    ///
    /// Bytes, since a field of the response may have some that are not UTF-8.
    func pieces(_ outcome: FetchOutcome) -> [(bytes: [UInt8], isError: Bool)] {
        var pieces: [(bytes: [UInt8], isError: Bool)] = [([], false)]
        for part in parts {
            switch part {
            case .text(let text): pieces[pieces.count - 1].bytes += text.utf8
            case .header(let name):
                let field = outcome.response?.headers.first { HTTPHeaders.isSame($0.name, name) }
                pieces[pieces.count - 1].bytes += field?.bytes ?? []
            case .variable(.standardError): pieces.append(([], true))
            case .variable(.standardOutput): pieces.append(([], false))
            // What follows is for failures only.
            case .variable(.onError): if outcome.exitStatus == .success { return pieces }
            case .variable(let variable): pieces[pieces.count - 1].bytes += Self.text(variable, outcome).utf8
            }
        }
        return pieces
    }

    private static func text(_ variable: Variable, _ outcome: FetchOutcome) -> String {
        let connection = outcome.response?.exchange.connection
        let lastHead = outcome.heads.last
        func speed(_ bytes: Int64) -> String {
            Decimals.text(Double(bytes) / max(outcome.elapsed.inSeconds, 1e-6), places: 0)
        }
        func seconds(_ duration: Duration?) -> String { Decimals.text((duration ?? .zero).inSeconds, places: 6) }
        // Those of the last attempt, counted from the beginning of the request, as `time_total` is.
        func time(_ duration: Duration?) -> String { seconds(duration.map { $0 + outcome.lastStart }) }
        switch variable {
        case .contentType: return outcome.response?.headers["Content-Type"] ?? ""
        case .errorMessage: return outcome.isSuccess ? "" : FailureText.line(outcome)
        case .exitCode: return "\(outcome.exitStatus.rawValue)"
        case .filename: return outcome.file ?? ""
        case .headerJSON: return Self.headers(outcome)
        case .httpCode, .responseCode: return Self.code(outcome.status?.rawValue)
        case .httpConnect:
            return Self.code(outcome.error?.proxyAnswer?.status.rawValue ?? lastHead?.connection?.proxyStatus)
        case .httpVersion: return outcome.response.map { $0.exchange.version } ?? "0"
        case .json: return Self.json(outcome)
        case .localIP: return connection?.localAddress ?? ""
        case .localPort: return "\(connection?.localPort ?? 0)"
        case .method: return outcome.effectiveMethod
        case .numConnects: return "\(outcome.heads.count { !$0.reusedConnection })"
        case .numHeaders: return "\(outcome.response?.headers.count ?? 0)"
        case .numRedirects: return "\(outcome.attempts.count { $0.reason == .redirected })"
        case .numRetries: return "\(outcome.attempts.count { $0.decision == .retry && $0.reason != .redirected })"
        case .redirectURL: return outcome.heads.last.flatMap { $0.isRedirect ? $0.target : nil } ?? ""
        case .referer: return outcome.lastRequest.headers["Referer"] ?? ""
        case .remoteIP: return connection?.remoteAddress ?? ""
        case .remotePort: return "\(connection?.remotePort ?? 0)"
        case .scheme: return outcome.effectiveURL.prefix { $0 != ":" }.uppercased()
        case .sizeDownload: return "\(outcome.bytes)"
        case .sizeHeader: return "\(outcome.heads.reduce(0) { $0 + ($1.connection?.headSize ?? 0) })"
        case .sizeRequest: return "\(outcome.bytesSent)"
        case .sizeUpload: return "\(lastHead?.connection?.uploadSize ?? 0)"
        case .speedDownload: return speed(outcome.bytes)
        case .speedUpload: return speed(lastHead?.connection?.uploadSize ?? 0)
        case .timeAppConnect: return connection?.handshake == nil ? seconds(nil) : time(connection?.handshake)
        case .timeConnect: return time(connection?.connect)
        case .timeNameLookup: return time(connection?.nameLookup)
        case .timePreTransfer: return time(connection?.preTransfer)
        case .timeRedirect: return seconds(outcome.redirectTime)
        case .timeStartTransfer: return time(connection?.firstByte)
        case .timeTotal: return seconds(outcome.elapsed)
        case .url: return outcome.url
        case .urlEffective: return SanitizedURL.withPath(outcome.effectiveURL)
        case .urlNumber: return "\(outcome.index)"
        case .onError, .standardError, .standardOutput: return ""
        }
    }

    /// A status in three digits.
    private static func code(_ status: Int?) -> String {
        let code = "\(status ?? 0)"
        return String(repeating: "0", count: max(0, 3 - code.count)) + code
    }

    private static func headers(_ outcome: FetchOutcome) -> String {
        var members: [(String, JSON)] = []
        for field in outcome.response?.headers ?? [:] {
            let name = field.name.lowercased()
            guard !members.contains(where: { $0.0 == name }) else { continue }
            let values = outcome.response?.headers[values: name] ?? []
            members.append((name, .array(values.map(JSON.string))))
        }
        return JSON.object(members).text
    }

    private static func json(_ outcome: FetchOutcome) -> String {
        let others = Variable.allCases.filter {
            ![.json, .headerJSON, .standardError, .standardOutput, .onError].contains($0)
        }
        return JSON.object(others.map { ($0.rawValue, value($0, outcome)) }).text
    }

    /// The value of a variable in JSON: a number where it is one, and null where there is none.
    private static func value(_ variable: Variable, _ outcome: FetchOutcome) -> JSON {
        let text = text(variable, outcome)
        switch variable {
        case .exitCode, .httpCode, .httpConnect, .responseCode, .localPort, .remotePort, .numConnects, .numHeaders,
            .numRedirects, .numRetries, .sizeDownload, .sizeHeader, .sizeRequest, .sizeUpload, .speedDownload,
            .speedUpload, .urlNumber:
            return .integer(Int64(text) ?? 0)
        case .timeAppConnect, .timeConnect, .timeNameLookup, .timePreTransfer, .timeRedirect, .timeStartTransfer,
            .timeTotal:
            return .rounded(Double(text) ?? 0, places: 6)
        case .contentType, .errorMessage, .filename, .redirectURL, .referer: return text.isEmpty ? .null : .string(text)
        default: return .string(text)
        }
    }
}
