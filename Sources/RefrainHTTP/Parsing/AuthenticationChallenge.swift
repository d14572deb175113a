// SPDX-License-Identifier: Apache-2.0
/// An authentication challenge of a server or proxy (RFC 9110 §11.3).
package struct AuthenticationChallenge: Hashable, Sendable {
    /// A parameter: its name in lower case, and its value without quotes.
    package struct Parameter: Hashable, Sendable {
        /// The name, in lower case.
        package let name: String
        /// The value, as it was sent.
        package let value: String
    }

    /// The scheme, in lower case: `basic`, `bearer`.
    package let scheme: String
    /// The token68 that some schemes use instead of parameters.
    package internal(set) var token68: String?
    /// The parameters, in order.
    package internal(set) var parameters: [Parameter] = []

    /// The first parameter with a name, given in lower case; `nil` if there is none.
    package subscript(parameter name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    /// Parses the lines of `WWW-Authenticate` or `Proxy-Authenticate`, each of which may contain several challenges.
    ///
    /// A malformed line counts up to what is malformed, since servers send `Basic realm=My Site`, and a scheme that was
    /// named must not be taken for none.
    package static func parse(fieldValues: [String]) -> [AuthenticationChallenge] {
        fieldValues.flatMap { line -> [AuthenticationChallenge] in
            var scanner = FieldScanner(line)
            return scanner.takeChallenges()
        }
    }
}

extension FieldScanner {
    /// Parses the rest of the line, up to what is malformed.
    ///
    /// Commas separate both challenges and parameters: a word followed by an equals sign is a parameter of the current
    /// challenge, any other word is the scheme of the next one.
    fileprivate mutating func takeChallenges() -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        while !isAtEnd {
            skipWhitespace()
            if take(.comma) { continue }
            guard let word = takeToken() else { return challenges }
            let wordEnd = position
            skipWhitespace()
            if take(.equals) {
                guard !challenges.isEmpty, challenges[challenges.count - 1].token68 == nil else { return challenges }
                guard let value = takeParameterValue() else { return challenges }
                challenges[challenges.count - 1].parameters.append(.init(name: word.lowercased(), value: value))
            } else {
                guard isAtEnd || current == .comma || position > wordEnd else { return challenges }
                challenges.append(AuthenticationChallenge(scheme: word.lowercased()))
                guard !isAtEnd, current != .comma else { continue }
                if let token = takeToken68() {
                    challenges[challenges.count - 1].token68 = token
                } else {
                    // The first parameter follows the scheme without a comma; the next iteration parses it.
                    guard current?.isTokenCharacter == true else { return challenges }
                    guard isParameterAhead() else { return challenges }
                    continue
                }
            }
            skipWhitespace()
            guard isAtEnd || take(.comma) else { return challenges }
        }
        return challenges
    }

    /// Whether a name and an equals sign follow.
    private mutating func isParameterAhead() -> Bool {
        let start = position
        defer { rewind(to: start) }
        guard takeToken() != nil else { return false }
        skipWhitespace()
        return current == .equals
    }

    private mutating func takeParameterValue() -> String? {
        skipWhitespace()
        return current == .quote ? takeQuotedString() : takeToken()
    }

    /// Takes a token68 that ends the challenge; takes nothing and returns `nil` if a parameter follows.
    private mutating func takeToken68() -> String? {
        let start = position
        var token = take { byte in
            byte.isLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
                || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~") || byte == UInt8(ascii: "+")
                || byte == UInt8(ascii: "/")
        }
        token = slice(from: token, through: take { $0 == .equals })
        let end = position
        skipWhitespace()
        guard !token.isEmpty, isAtEnd || current == .comma else {
            rewind(to: start)
            return nil
        }
        rewind(to: end)
        return String(decoding: token, as: UTF8.self)
    }

    private func slice(from head: ArraySlice<UInt8>, through tail: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        head.isEmpty ? [] : head + tail
    }
}
