// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// Parts of a form as curl writes them: `NAME=TEXT`, `NAME=@FILE`, `NAME=<FILE`, with `;type=` and `;filename=`.
enum FormText {
    /// The body of all parts.
    static func body(
        _ forms: [(name: OptionName, value: String)],
        boundary: String
    ) throws(UsageError) -> HTTPBody {
        var parts: [HTTPBody.Part] = []
        for form in forms { parts.append(try part(form.value, isText: form.name == .formString)) }
        do {
            return try .multipart(parts, boundary: boundary)
        } catch {
            throw UsageError("--form: \(error)")
        }
    }

    private static func part(_ text: String, isText: Bool) throws(UsageError) -> HTTPBody.Part {
        let option = isText ? "--form-string" : "--form"
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw UsageError("\(option): a part lacks its name; write NAME=TEXT or NAME=@FILE")
        }
        let name = String(text[..<equals])
        let value = text[text.index(after: equals)...]
        guard !isText else { return .text(name, String(value)) }
        guard value.first != "(" else {
            throw UsageError("--form: nested parts are not supported; --form-string sends a text that begins with (")
        }
        let isFile = value.hasPrefix("@")
        let isFromFile = isFile || value.hasPrefix("<")
        let description = try PartText(isFromFile ? value.dropFirst() : value, isFile: isFile)
        let (content, filename) = (description.content, description.filename)
        guard isFromFile else {
            let type = description.type ?? filename.flatMap(known)
            return HTTPBody.Part(name: name, filename: filename, body: .text(content, contentType: type))
        }
        let last = content == "-" ? "-" : content.split(separator: "/").last.map(String.init) ?? "file"
        let shown = isFile ? filename ?? last : filename
        let body = try BodyText.file(content, option: option, contentType: description.type ?? type(of: content, shown))
        return HTTPBody.Part(name: name, filename: shown, body: body)
    }

    /// The media type of a file by the ending of its name, as in curl; nil if there is none and the part has no name.
    private static func type(of path: String, _ filename: String?) -> String? {
        let type = filename.flatMap(known) ?? known(path)
        // A part without a name and type is text.
        guard filename != nil else { return type == "text/plain" ? nil : type }
        return type ?? (path == "-" ? nil : "application/octet-stream")
    }

    private static func known(_ name: String) -> String? {
        types.first { name.lowercased().hasSuffix($0.key) }?.value
    }

    private static let types = [
        ".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png",
        ".svg": "image/svg+xml", ".txt": "text/plain", ".htm": "text/html", ".html": "text/html",
        ".pdf": "application/pdf", ".xml": "application/xml",
    ]
}

/// The value of a part: a text or a path, which may be in quotation marks, and its settings.
private struct PartText {
    let content: String
    /// The media type with its parameters; nil: none was given.
    private(set) var type: String?
    private(set) var filename: String?

    init(_ text: Substring, isFile: Bool) throws(UsageError) {
        var rest = text.drop(while: \.isWhitespace)
        // After a comma curl reads a further file.
        content = try Self.word(&rest, endsAtComma: isFile)
        // The start of the media type, as long as its parameters may follow.
        var typeStart: Substring.Index?
        while rest.first == ";" {
            rest = rest.dropFirst().drop(while: \.isWhitespace)
            let name = rest.prefix { $0 != "=" }.lowercased()
            if name == "filename" || (name == "type" && typeStart == nil) {
                rest = rest.dropFirst(name.count + 1).drop(while: \.isWhitespace)
            }
            switch name {
            case "filename":
                typeStart = nil
                filename = try Self.word(&rest, endsAtComma: isFile)
            case "type" where typeStart == nil:
                typeStart = rest.startIndex
                let value = String(Self.plain(&rest, endsAtComma: isFile))
                guard value.split(separator: "/", maxSplits: 1).count == 2 else {
                    throw .badValue(value, of: "--form", "is not a media type, such as text/plain")
                }
                type = value
            case _ where typeStart != nil && name != "headers" && name != "encoder":
                let end = Self.plain(&rest, endsAtComma: isFile).endIndex
                type = typeStart.map { String(text[$0..<end]) }
            default:
                let odd = String(Self.plain(&rest, endsAtComma: isFile))
                throw UsageError(
                    "--form: a part has type and filename behind its semicolons, not \(Sanitized.text(odd)); a text with "
                        + "semicolons stands in quotation marks, or behind --form-string"
                )
            }
        }
        guard rest.isEmpty else {
            throw UsageError(
                "--form: one file for each part; the name of a file with a comma stands in quotation marks"
            )
        }
    }

    /// The text up to the next separator, without the spaces before that.
    private static func plain(_ rest: inout Substring, endsAtComma: Bool) -> Substring {
        var word = rest.prefix { $0 != ";" && !(endsAtComma && $0 == ",") }
        rest = rest[word.endIndex...]
        while word.last?.isWhitespace ?? false { word.removeLast() }
        return word
    }

    /// The same, or the text in quotation marks, in which a backslash escapes those and itself.
    private static func word(_ rest: inout Substring, endsAtComma: Bool) throws(UsageError) -> String {
        guard rest.first == "\"" else { return String(plain(&rest, endsAtComma: endsAtComma)) }
        var word = ""
        var quoted = rest.dropFirst()
        while let character = quoted.popFirst() {
            if character == "\"" {
                rest = quoted.drop(while: \.isWhitespace)
                guard rest.isEmpty || rest.first == ";" || (endsAtComma && rest.first == ",") else {
                    throw UsageError("--form: there is more behind a quotation mark than settings with semicolons")
                }
                return word
            }
            guard character == "\\", let next = quoted.first, next == "\\" || next == "\"" else {
                word.append(character)
                continue
            }
            word.append(next)
            quoted.removeFirst()
        }
        // One that is not closed is an ordinary character.
        return String(plain(&rest, endsAtComma: endsAtComma))
    }
}
