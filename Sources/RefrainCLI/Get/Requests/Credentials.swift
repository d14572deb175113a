// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The credentials of requests, from options and files.
struct Credentials: Sendable {
    /// The value of `Authorization` for all requests; nil: none.
    private let authorization: String?
    /// The user of the option; nil: a token, or none.
    private let user: String?
    private let netrc: Netrc?

    init(_ arguments: Arguments) throws(UsageError) {
        guard !arguments.has(.user) || !arguments.has(.bearer) else {
            throw UsageError("--user and --bearer exclude each other")
        }
        if let text = arguments.last(.user) {
            let password = try text.contains(":") ? "" : ":" + Self.password(of: text)
            authorization = Self.basic(text + password)
            user = String(text.prefix { $0 != ":" })
        } else if let text = arguments.last(.bearer) {
            var token = text
            if text.hasPrefix("@") {
                let bytes = try Input.contents(String(text.dropFirst()), "--bearer")
                token = String(decoding: bytes, as: UTF8.self).trimmedOfWhiteSpace
            }
            guard !token.isEmpty, HTTPHeaders.isValidValue(token) else {
                throw UsageError("--bearer: the token is empty, or contains a control character")
            }
            (authorization, user) = ("Bearer \(token)", nil)
        } else {
            (authorization, user) = (nil, nil)
        }
        let file = arguments.last(.netrcFile)
        guard file != nil || arguments.has(.netrc) else {
            netrc = nil
            return
        }
        let home = getenv("HOME").map { String(cString: $0) } ?? ""
        let path = file ?? home + "/.netrc"
        // As in curl; a file that is named must be there.
        guard file != nil || Directory.kind(of: path) != .nothing else {
            netrc = nil
            return
        }
        let option = file == nil ? "--netrc" : "--netrc-file"
        let text = String(decoding: try Input.contents(path, option), as: UTF8.self)
        netrc = try Netrc(text, name: "\(option): \(path)")
    }

    /// Tells the credentials of the options from others; a user keeps the identity when the password changes.
    var identity: String {
        guard let authorization else { return "" }
        if let user { return "\nuser \(user)" }
        return "\nauthorization \(Self.identity(ofAuthorization: authorization))"
    }

    /// Tells the value of `Authorization` from that of another user.
    ///
    /// A JSON Web Token (RFC 7519) that names its subject is the same after it was renewed, so that orders are not
    /// placed again under the next one: of its claims those count that renewing leaves as they are. Any other value
    /// counts as it is.
    static func identity(ofAuthorization value: String) -> String {
        let words = value.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bearer" else { return value }
        let parts = words[1].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return value }
        let text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
        guard let bytes = Data(base64Encoded: text + padding).map([UInt8].init),
            let claims = try? JSONNode.parse(bytes), claims["sub"]?.text?.isEmpty == false,
            case .object(let members) = claims.value
        else { return value }
        let kept = members.filter { !claimsOfOneToken.contains($0.name) }.sorted { $0.name < $1.name }
        return "token "
            + kept.map { "\($0.name)=\(String(decoding: bytes[$0.value.range], as: UTF8.self))" }.joined(separator: ",")
    }

    /// The claims that each token has anew, by RFC 7519, OpenID Connect and the common identity providers.
    private static let claimsOfOneToken: Set<String> = [
        "iat", "nbf", "exp", "jti", "auth_time", "nonce", "at_hash", "c_hash", "sid", "session_state", "aio", "rh",
        "uti", "origin_jti", "event_id",
    ]

    /// The login of the file for the host of a URL.
    func login(for url: String) -> String? {
        guard let netrc, let host = URL(string: url)?.host() else { return nil }
        return netrc.entry(for: host)?.login
    }

    /// Adds the credentials for a request.
    func apply(to request: inout HTTPRequest) {
        guard !request.headers.contains("Authorization") else { return }
        if let authorization { return request.headers["Authorization"] = authorization }
        guard let netrc, let host = request.url.host(), request.url.password() == nil else { return }
        // The file may have the password of the user in the URL.
        let user = request.url.user(percentEncoded: false)
        guard let entry = netrc.entry(for: host, login: user) else { return }
        request.headers["Authorization"] = Self.basic("\(entry.login):\(entry.password)")
    }

    private static func basic(_ pair: String) -> String { "Basic " + Data(pair.utf8).base64EncodedString() }

    /// Asks for a password on the terminal, without an echo.
    static func password(of user: String, option: String = "--user") throws(UsageError) -> String {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            throw UsageError(
                "\(option): the password is missing, and there is no terminal to ask for it; write USER:PASSWORD, or use --netrc-file"
            )
        }
        defer { close(descriptor) }
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else { throw UsageError("--user: \(systemText(errno))") }
        let usual = before
        let restore: @Sendable () -> Void = {
            var usual = usual
            tcsetattr(descriptor, TCSAFLUSH, &usual)
            _ = [UInt8(0x0A)].withUnsafeBytes { systemWriteAll(descriptor, $0) }
        }
        let bytes = Signals.restoring(restore) {
            var silent = usual
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(descriptor, TCSAFLUSH, &silent)
            _ = Array("Password of \(Sanitized.line(user)): ".utf8).withUnsafeBytes { systemWriteAll(descriptor, $0) }
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            while read(descriptor, &byte, 1) == 1, byte != 0x0A { bytes.append(byte) }
            return bytes
        }
        restore()
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The file in which users keep logins for hosts: `machine NAME login USER password SECRET`.
struct Netrc: Sendable {
    /// A login.
    struct Entry: Sendable, Equatable {
        var login = ""
        var password = ""
    }

    private var machines: [(name: String?, entry: Entry)] = []

    /// Reads the text of a file.
    ///
    /// - Parameter name: the file, for messages. No word of it is shown, because a misplaced one may be a password.
    init(_ text: String, name: String) throws(UsageError) {
        var words: [(text: String, line: Int)] = []
        var isMacro = false
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            if isMacro {
                // A macro ends with an empty line.
                isMacro = !line.allSatisfy(\.isWhitespace)
                continue
            }
            guard line.first(where: { !$0.isWhitespace }) != "#" else { continue }
            let parts = try Self.words(line, location: "\(name):\(index + 1)")
            let macro = parts.firstIndex { $0.lowercased() == "macdef" }
            isMacro = macro != nil
            words += parts[..<(macro ?? parts.endIndex)].map { ($0, index + 1) }
        }
        var rest = words[...]
        while let (word, line) = rest.popFirst() {
            // A comment after the words of a line; a value may begin with that character.
            guard word.first != "#" else {
                rest = rest.drop { $0.line == line }
                continue
            }
            func following() throws(UsageError) -> String {
                guard let next = rest.popFirst() else { throw UsageError("\(name):\(line): \(word) lacks its value") }
                return next.text
            }
            switch word.lowercased() {
            case "machine": machines.append((try following().lowercased(), Entry()))
            case "default": machines.append((nil, Entry()))
            case "login", "password", "account":
                let value = try following()
                guard !machines.isEmpty else { throw UsageError("\(name):\(line): \(word) comes before any machine") }
                if word.lowercased() == "login" { machines[machines.count - 1].entry.login = value }
                if word.lowercased() == "password" { machines[machines.count - 1].entry.password = value }
            default:
                throw UsageError(
                    "\(name):\(line): there is a word that is none of machine, default, login, password, account and macdef"
                )
            }
        }
    }

    /// The words of a line; one in quotation marks may contain spaces and escapes.
    private static func words(_ line: Substring, location: String) throws(UsageError) -> [String] {
        var words: [String] = []
        var rest = line
        while true {
            rest = rest.drop(while: \.isWhitespace)
            guard let first = rest.first else { return words }
            guard first == "\"" else {
                words.append(String(rest.prefix { !$0.isWhitespace }))
                rest = rest.drop { !$0.isWhitespace }
                continue
            }
            rest.removeFirst()
            var word = ""
            var isClosed = false
            while !isClosed {
                guard let character = rest.popFirst() else {
                    throw UsageError("\(location): a quotation mark is not closed")
                }
                isClosed = character == "\""
                guard character == "\\", let next = rest.popFirst() else {
                    if !isClosed { word.append(character) }
                    continue
                }
                word.append(["n": "\n", "t": "\t", "r": "\r"][next] ?? next)
            }
            words.append(word)
        }
    }

    /// The login for a host: its own, or the default.
    ///
    /// - Parameter login: the user whose password is looked for; nil: any.
    func entry(for host: String, login: String? = nil) -> Entry? {
        let host = host.lowercased()
        let entries = machines.filter { $0.name == nil || $0.name == host }.map(\.entry)
        guard let login else {
            // An entry that names neither says that the host needs no login.
            return entries.first.flatMap { $0 == Entry() ? nil : $0 }
        }
        if let own = entries.first(where: { $0.login == login }) { return own }
        // An entry without a login has the password of any user.
        return entries.first { $0.login.isEmpty && !$0.password.isEmpty }.map {
            Entry(login: login, password: $0.password)
        }
    }
}

extension String {
    /// The text without surrounding white space and line ends.
    var trimmedOfWhiteSpace: String {
        var text = self[...].drop(while: \.isWhitespace)
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return String(text)
    }
}
