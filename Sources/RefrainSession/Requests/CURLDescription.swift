// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Formats a request as a `curl` command for a POSIX shell.
enum CURLDescription {
    /// The command; secrets are the values of fields and parameters whose names tell it, or that the request names.
    static func text(for request: HTTPRequest, showingSecrets: Bool) -> String {
        var request = request
        if !showingSecrets {
            let secrets = request.secretHeaders
            request.headers = HTTPHeaders(
                request.headers.map { field -> (String, String) in
                    let isSecret =
                        SecretNames.contains(field: field.name)
                        || secrets.contains { $0.lowercased() == field.name.lowercased() }
                    return (field.name, isSecret ? URLText.hiddenValue : field.value)
                }
            )
        }
        return text(for: request, url: showingSecrets ? request.url.absoluteString : URLText.redacted(request.url))
    }

    private static func text(for request: HTTPRequest, url: String) -> String {
        var lines = ["$ curl -v", method(of: request)]
        for field in request.headers { lines.append("-H \(quoted(argument(for: field)))") }
        if !request.body.isEmpty, !request.headers.contains("Content-Type") {
            // An empty value omits the field; without it, curl would send the media type of a form.
            let type = request.body.contentType.map { " \($0)" } ?? ""
            lines.append("-H \(quoted("Content-Type:\(type)"))")
        }
        let (body, remark) = bodyArgument(request.body)
        if let body { lines.append(body) }
        lines.append(quoted(url))
        let command = lines.joined(separator: " \\\n\t")
        // On a separate line, because a comment ends a line.
        return remark.map { "\(command)\n# \($0)" } ?? command
    }

    /// With `-X HEAD` curl would wait for the announced content.
    private static func method(of request: HTTPRequest) -> String {
        request.method == .head && request.body.isEmpty ? "--head" : "-X \(quoted(request.method.rawValue))"
    }

    /// A field without a value ends in a semicolon: after a colon, curl would leave it out.
    private static func argument(for field: HTTPHeaders.Field) -> String {
        field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
    }

    /// The argument that sends the body, and a remark on it.
    private static func bodyArgument(_ body: HTTPBody) -> (String?, remark: String?) {
        guard !body.isEmpty else { return (nil, nil) }
        let standardInput = "--data-binary @-"
        switch body.storage {
        case .file(let path): return ("--data-binary @\(quoted(path))", nil)
        case .bytes(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
                return (standardInput, "standard input: the body, \(bytes.count) bytes that are not text")
            }
            // Raw: elsewhere a text that begins with an at sign names a file.
            return ("--data-raw \(quoted(text))", nil)
        case .restartable, .oneShot: return (standardInput, "standard input: the body, a stream")
        }
    }

    /// Quotes a word for a POSIX shell.
    ///
    /// By scalar: in Swift, a quote followed by a combining accent is one character, which does not equal a quote.
    private static func quoted(_ text: String) -> String {
        var word = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { word += "'\\''" } else { word.unicodeScalars.append(scalar) }
        }
        return word + "'"
    }
}
